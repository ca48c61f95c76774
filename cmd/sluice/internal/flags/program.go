package flags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// Program controls the program and the plugins.
type Program struct {
	Run                  bool // the program runs although the operation does not need it
	NoBuiltins           bool // packages without an installed plugin are not served in process
	InstallLate          bool // no plugin is installed before it is needed
	SkipConfigValidation bool
	refresh              refresh
	client               string // the address of the process that serves the program; "" if the project is the program
	Debug                Debugger
}

// Add registers the flags that all operations have.
func (p *Program) Add(f *pflag.FlagSet) {
	f.BoolVar(&p.SkipConfigValidation, "skip-config-validation", false, "do not check the configuration against what the project declares")
	f.BoolVar(&p.NoBuiltins, "no-builtin-providers", false, "do not use built-in providers")
	f.BoolVar(&p.InstallLate, "skip-plugin-pre-install", false, "install missing plugins when they are needed, not before the operation")
	f.StringVar(&p.client, "client", "", "run the program that another process serves at this `address`, 127.0.0.1:<port>, instead of the project's")
	_ = f.MarkHidden("client") // fails only for flags that are not there
}

// Check refuses an address that is not on this machine.
func (p *Program) Check() error {
	_, _, err := p.Client()
	return err
}

// Client returns the port of the process that serves the program, if there is one.
func (p *Program) Client() (port int, inline bool, err error) {
	if p.client == "" {
		return 0, false, nil
	}
	if port, err = plugin.LocalPort(p.client); err != nil {
		return 0, false, exit.Usagef("--client: %w", err)
	}
	return port, true, nil
}

// ClientAddress is the given address of the process that serves the program; "" if there is none.
func (p *Program) ClientAddress() string { return p.client }

// AddRun registers the flags of operations that may run the program. usage describes the flag that makes it run although the
// operation does not need it.
func (p *Program) AddRun(f *pflag.FlagSet, usage string) {
	f.BoolVar(&p.Run, "run-program", false, usage)
	p.Debug.Add(f)
}

// AddRefresh registers the flag of operations that can refresh first.
func (p *Program) AddRefresh(f *pflag.FlagSet) {
	f.VarPF(&p.refresh, "refresh", "r", "read every resource before deciding what to do").NoOptDefVal = "true"
}

// AddRefreshChanged registers the flag of operations that can refresh only what may matter.
func (p *Program) AddRefreshChanged(f *pflag.FlagSet) {
	p.refresh.mayBeChanged = true
	f.VarPF(&p.refresh, "refresh", "r", "read every resource before deciding what to do; with =changed only those that would change, and those that they depend on").
		NoOptDefVal = "true"
}

// MakeRefresh makes the operation refresh first, as the flag does.
func (p *Program) MakeRefresh() { p.refresh.choice = everything }

// Refreshes reports whether the operation refreshes first. otherwise is the setting of the project.
func (p *Program) Refreshes(otherwise bool) bool {
	if p.refresh.choice != notGiven {
		return p.refresh.choice != nothing
	}
	return otherwise
}

// RefreshesChanged reports whether the operation refreshes only what would change, and what that depends on.
func (p *Program) RefreshesChanged() bool { return p.refresh.choice == onlyChanged }

// refresh is a flag that says what is read first.
type refresh struct {
	choice       refreshes
	mayBeChanged bool
}

// refreshes are the values of the flag.
type refreshes int

const (
	notGiven refreshes = iota
	nothing
	everything
	onlyChanged
)

// Set parses the flag.
func (r *refresh) Set(s string) error {
	if s == "changed" && r.mayBeChanged {
		r.choice = onlyChanged
		return nil
	}
	v, err := strconv.ParseBool(s)
	switch {
	case err != nil && r.mayBeChanged:
		return errors.New("write true, false or changed")
	case err != nil:
		return errors.New("write true or false")
	case v:
		r.choice = everything
	default:
		r.choice = nothing
	}
	return nil
}

// String shows the flag.
func (r *refresh) String() string {
	return map[refreshes]string{nothing: "false", everything: "true", onlyChanged: "changed"}[r.choice]
}

// Type names the flag's type in help texts.
func (r *refresh) Type() string {
	if r.mayBeChanged {
		return "what"
	}
	return "bool"
}
