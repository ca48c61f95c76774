package golang

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
)

// Runtime builds and runs Go programs and plugins.
type Runtime struct{}

var _ tooling.Runtime = Runtime{}

// Program returns the program of a project; see [New].
func (Runtime) Program(p source.Project) source.Program { return New(p) }

// StartPlugin builds a plugin and runs it.
func (Runtime) StartPlugin(ctx context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	if c.Dynamic {
		return nil, tooling.ErrNoPlugins // the SDK for Go has no dynamic resources
	}
	if c.Debug != nil {
		return startDebugged(ctx, p, c)
	}
	binary, err := New(p).binary(ctx, false, func(stages.LogMessage) {})
	if err != nil {
		return nil, err
	}
	return c.Start(c.Command(p, binary, c.Args...))
}

// startDebugged runs a plugin in the debugger.
func startDebugged(ctx context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	d, err := newDelve(c.Name, c.Debug)
	if err != nil {
		return nil, err
	}
	binary, err := New(p).binary(ctx, true, c.Debug)
	if err != nil {
		return nil, err
	}
	command := c.Command(p, d.executable, d.arguments(direct.AnyDebugAddress, binary, c.Args)...)
	command.Intercept = d.debugger.Interceptor()
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	var watch conc.WaitGroup
	watch.Go(func() { d.watch(running) })
	command.Done = func() {
		ended()
		watch.Wait()
	}
	return plugin.Start(command)
}

// Install downloads the modules that a program needs, unless it is built already. A program without a go.sum, such as a template, gets one;
// an existing one stays as it is.
func (Runtime) Install(ctx context.Context, p source.Project, output func(plugin.Line)) error {
	if p.Option("binary") != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(p.Directory, "vendor", "modules.txt")); err == nil {
		return nil // everything is there
	}
	get := direct.HowToGet("Go", "golang", "go")
	if lacksSums(p.Directory) {
		return direct.Install(ctx, p.Directory, nil, output, get, "go", "mod", "tidy")
	}
	return direct.Install(ctx, p.Directory, nil, output, get, "go", "mod", "download")
}

// lacksSums reports whether a directory's module has no go.sum beside its go.mod.
func lacksSums(directory string) bool {
	for dir := directory; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			_, err = os.Stat(filepath.Join(dir, "go.sum"))
			return errors.Is(err, fs.ErrNotExist)
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// About returns the go command.
func (Runtime) About(ctx context.Context, p source.Project) ([]tooling.Tool, error) {
	tool, err := direct.Version(ctx, p.Directory, "go", "version")
	if err != nil {
		return nil, err
	}
	return []tooling.Tool{tool}, nil
}
