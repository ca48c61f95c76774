package golang

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
)

// Runtime builds and runs Go programs and plugins.
type Runtime struct{}

var _ source.Runtime = Runtime{}

// Program returns the program of a project; see [New].
func (Runtime) Program(p source.Project) source.Program { return New(p) }

// StartPlugin builds a plugin and runs it. What was built is deleted when the plugin ends.
func (Runtime) StartPlugin(ctx context.Context, p source.Project, c source.PluginCommand) (plugin.Server, error) {
	if c.Dynamic {
		return nil, source.ErrNoPlugins // the SDK for Go has no dynamic resources
	}
	built := New(p)
	binary, err := built.binary(ctx)
	if err != nil {
		_ = built.Close()
		return nil, err
	}
	command := c.Command(p, binary, c.Args...)
	command.Done = func() { _ = built.Close() }
	return plugin.Start(command)
}

// Install downloads the modules that a program needs, unless that is built already.
func (Runtime) Install(ctx context.Context, p source.Project, said func(plugin.Line)) error {
	if p.Option("binary") != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(p.Directory, "vendor", "modules.txt")); err == nil {
		return nil // everything is there
	}
	return direct.Install(ctx, p.Directory, said, "install Go", "go", "mod", "download")
}

// About returns the go command.
func (Runtime) About(ctx context.Context, p source.Project) ([]source.Tool, error) {
	tool, err := direct.Version(ctx, p.Directory, "go", "version")
	if err != nil {
		return nil, err
	}
	return []source.Tool{tool}, nil
}
