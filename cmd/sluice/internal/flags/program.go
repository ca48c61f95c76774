package flags

import (
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
	refresh              optionalBool
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

// MakeRefresh makes the operation refresh first, as the flag does.
func (p *Program) MakeRefresh() { p.refresh = optionalBool{given: true, value: true} }

// Refreshes reports whether the operation refreshes first. otherwise is the setting of the project.
func (p *Program) Refreshes(otherwise bool) bool {
	if p.refresh.given {
		return p.refresh.value
	}
	return otherwise
}

// optionalBool is a flag that is true, false or not given.
type optionalBool struct{ given, value bool }

// Set parses the flag.
func (b *optionalBool) Set(s string) error {
	v, err := strconv.ParseBool(s)
	*b = optionalBool{given: err == nil, value: v}
	return err
}

// String shows the flag.
func (b *optionalBool) String() string {
	if !b.given {
		return ""
	}
	return strconv.FormatBool(b.value)
}

// Type names the flag's type in help texts.
func (b *optionalBool) Type() string { return "bool" }
