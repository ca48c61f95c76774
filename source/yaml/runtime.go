package yaml

import (
	"context"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Runtime evaluates YAML programs in this process. Components in YAML are served by [ComponentHost].
type Runtime struct{ Options }

var _ tooling.Runtime = Runtime{}

// Program returns the program of a project.
func (r Runtime) Program(p source.Project) source.Program { return New(p, r.Options) }

// StartPlugin returns [tooling.ErrNoPlugins]: components need no process.
func (Runtime) StartPlugin(context.Context, source.Project, tooling.PluginCommand) (plugin.Server, error) {
	return nil, tooling.ErrNoPlugins
}

// Install does nothing: there is nothing to install.
func (Runtime) Install(context.Context, source.Project, func(plugin.Line)) error { return nil }

// About returns nothing: no tool is needed.
func (Runtime) About(context.Context, source.Project) ([]tooling.Tool, error) { return nil, nil }
