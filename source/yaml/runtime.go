package yaml

import (
	"context"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

// Runtime evaluates YAML programs in this process. Components in YAML are served by [ComponentHost].
type Runtime struct{ Options }

var _ source.Runtime = Runtime{}

// Program returns the program of a project.
func (r Runtime) Program(p source.Project) source.Program { return New(p, r.Options) }

// StartPlugin returns [source.ErrNoPlugins]: components need no process.
func (Runtime) StartPlugin(context.Context, source.Project, source.PluginCommand) (plugin.Server, error) {
	return nil, source.ErrNoPlugins
}

// Install does nothing: there is nothing to install.
func (Runtime) Install(context.Context, source.Project, func(plugin.Line)) error { return nil }

// About returns nothing: no tool is needed.
func (Runtime) About(context.Context, source.Project) ([]source.Tool, error) { return nil, nil }
