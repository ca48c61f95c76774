package yaml

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
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

// Generator writes the lock file of a package for YAML programs, which names the plugin that serves it ([protocol.md 11.10]).
//
// [protocol.md 11.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#1110-packages
type Generator struct{}

var _ tooling.Generator = Generator{}

// Generate writes the lock file.
func (Generator) Generate(_ context.Context, sdk tooling.SDK, _ string) ([]tooling.Remark, error) {
	s, err := tooling.ReadPackageSchema(sdk.Schema)
	if err != nil {
		return nil, err
	}
	text, err := packages.Lock(s.Package())
	if err != nil {
		return nil, err
	}
	name := s.Name
	if s.Version != "" {
		name += "-" + s.Version
	}
	return nil, os.WriteFile(filepath.Join(sdk.Directory, name+".yaml"), text, 0o644)
}

// Link does nothing: programs read the lock files below sdks/.
func (Generator) Link(context.Context, source.Project, []tooling.LinkedSDK, string) (string, error) {
	return "", nil
}
