package python

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// The exit statuses of run.py.
const (
	noSDK    = 33
	finished = 34
)

// Program is a Python program. Between calls it keeps the place of its environment, for which poetry takes a second.
type Program struct {
	project source.Project

	mu    sync.Mutex // guards found
	found environment
}

// New returns the program of a project. Runtime options: virtualenv, toolchain, typechecker.
func New(p source.Project) *Program { return &Program{project: p} }

var (
	_ source.Program  = (*Program)(nil)
	_ source.Preparer = (*Program)(nil)
)

// Run checks the program's types if the project names a checker, and runs the program. The end of ctx ends both.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	if err := checkEntry(p.project); err != nil {
		return err
	}
	e, err := p.environment(ctx)
	if err != nil {
		return err
	}
	wanted, done := host.Wanted(ctx)
	err = p.checkTypes(wanted, e, host.Monitor)
	done()
	if err != nil {
		return err
	}
	monitor, engine, err := direct.Addresses(host, p.project)
	if err != nil {
		return err
	}
	info := host.Monitor.Info()
	env, err := direct.ConfigEnv(info)
	if err != nil {
		return err
	}
	script, err := direct.Script("python", "sluice-run-*.py", runScript)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(script) }()
	command := direct.Command{
		Executable: e.python, Args: append([]string{"-u", script}, p.arguments(monitor, engine, info)...), Env: append(env, e.variables(nil)...),
	}
	if p.project.Debug {
		d, err := e.debug(ctx, p.project, p.project.Program(), direct.DebugAddress(usualPort), direct.Log(ctx, host), command.Args[1:]...)
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(d.script) }()
		command.Args, command.Debugger = d.arguments, d.debugger
	}
	err = direct.Run(ctx, host, p.project, command)
	if err == nil {
		return fmt.Errorf("%s ended its process in the middle, with status 0; use sys.exit, outside of callbacks, to end it early: "+
			"what it would have declared after that is unknown", p.project.Program())
	}
	if exit, ok := err.(*source.ProgramExitError); ok { //nolint:errorlint // made by Run itself
		switch exit.Code {
		case finished:
			return nil
		case noSDK:
			return e.withoutSDK(p.project)
		}
	}
	return e.damaged(p.project, err)
}

// Prepare implements [source.Preparer]: it makes the virtual environment of the project if that does not exist. All other errors of an
// environment come from Packages and Run.
func (p *Program) Prepare(ctx context.Context, log func(stages.LogMessage)) error {
	if checkEntry(p.project) != nil {
		return nil
	}
	_, err := p.environment(ctx)
	absent := (*absentError)(nil)
	if !errors.As(err, &absent) {
		return nil
	}
	log(stages.LogMessage{Severity: stages.Info, Message: absent.problem + ": making it"})
	var output []string
	err = Runtime{}.Install(ctx, p.project, func(l plugin.Line) {
		output = append(output, l.Text)
		log(stages.LogMessage{Severity: stages.Info, Message: l.Text, Ephemeral: true})
	})
	if err != nil {
		return fmt.Errorf("%s, and it could not be made: %w%s", absent.problem, err, direct.Below(strings.Join(output, "\n")))
	}
	return nil
}

// environment returns the environment of the program.
func (p *Program) environment(ctx context.Context) (environment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if files.IsThere(p.found.python) {
		return p.found, nil
	}
	e, err := find(ctx, p.project, false)
	if err == nil {
		p.found = e
	}
	return e, err
}

// ServeMonitor implements [source.MonitorServer].
func (p *Program) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
}

// Close does nothing: each run has its own process, which has ended when Run returns.
func (p *Program) Close() error { return nil }

func (p *Program) arguments(monitor, engine string, info stages.RunInfo) []string {
	args := []string{"--monitor", monitor}
	if engine != "" {
		args = append(args, "--engine", engine)
	}
	args = append(args,
		"--project", info.Project, "--stack", info.Stack, "--organization", info.Organization,
		"--root_directory", p.project.Root, "--pwd", p.project.Directory, "--parallel", strconv.Itoa(max(1, info.Parallel)))
	if info.DryRun {
		args = append(args, "--dry_run")
	}
	return append(append(args, "--", p.project.Entry), p.project.Args...)
}

// checkEntry refuses a program that does not exist.
func checkEntry(p source.Project) error {
	path := filepath.Join(p.Directory, p.Entry)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "__main__.py")
	}
	if files.IsThere(path) {
		return nil
	}
	return fmt.Errorf("there is no program: %s does not exist; write one, or name it with `main` in the project file", path)
}

// checkTypes runs the type checker of the project.
func (p *Program) checkTypes(ctx context.Context, e environment, m stages.Monitor) error {
	name := p.project.Option("typechecker")
	args := []string{"-m", name}
	switch name {
	case "", "none":
		return nil
	case "mypy":
		if relative, err := filepath.Rel(p.project.Directory, e.folder); e.folder != "" && err == nil {
			args = append(args, "--exclude", relative)
		}
	case "pyright":
	default:
		return fmt.Errorf("the runtime option `typechecker` is %q; it can be mypy or pyright", name)
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: name, Executable: e.python, Args: append(args, p.project.Directory), Directory: p.project.Directory,
		Environment: append(os.Environ(), e.variables(nil)...),
	})
	switch {
	case err != nil:
		return err
	case exit.Code == 0:
		return nil
	case strings.Contains(stderr, "No module named "+name):
		return e.withoutChecker(name)
	}
	return fmt.Errorf("%s finds mistakes in %s:\n%s", name, p.project.Program(), strings.TrimSpace(stdout+stderr))
}

// installed is an SDK: an entry in the output of packages.py.
type installed struct {
	Distribution string `json:"distribution"`
	Installed    string `json:"installed"`
	sdk.Manifest
}

// Packages lists the packages of providers whose SDKs are installed in the program's environment ([protocol.md 1.12]).
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	e, err := p.environment(ctx)
	if err != nil {
		return nil, err
	}
	found, ok := list(e, p.project.Directory)
	if !ok {
		if found, err = p.ask(ctx, e); err != nil {
			return nil, err
		}
	}
	var packages []stages.Package
	for _, f := range found {
		if f.Resource {
			packages = append(packages, f.Package(strings.TrimPrefix(f.Distribution, "pulumi-"), semantic(f.Installed)))
		}
	}
	sdk.Sort(packages)
	return packages, nil
}

// ask lists the installed SDKs with the interpreter of an environment.
func (p *Program) ask(ctx context.Context, e environment) ([]installed, error) {
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "python", Executable: e.python, Args: []string{"-c", packagesScript}, Directory: p.project.Directory,
		Environment: append(os.Environ(), e.variables(nil)...),
	})
	if err != nil {
		return nil, e.damaged(p.project, err)
	}
	var found []installed
	if err := json.Unmarshal([]byte(stdout), &found); exit.Code != 0 || err != nil {
		mend := ""
		if e.folder != "" {
			mend = "\nif the virtual environment " + e.folder + " is damaged, remove it and make it again with " + e.makes(p.project)
		}
		return nil, fmt.Errorf("list the packages of %s: %s ended with %s%s%s", p.project.Program(), e.python, exit.Status, direct.Below(stderr), mend)
	}
	return found, nil
}

// runScript runs a program.
//
//go:embed run.py
var runScript []byte

// packagesScript lists the installed SDKs.
//
//go:embed packages.py
var packagesScript string
