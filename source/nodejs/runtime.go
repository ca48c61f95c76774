package nodejs

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Runtime runs programs and plugins in node.
type Runtime struct{}

var _ tooling.Runtime = Runtime{}

// Program returns the program of a project; see [New].
func (Runtime) Program(p source.Project) source.Program { return New(p) }

// modules are the entry points of the SDK that serve plugins (protocol.md 1.10, 6.2, 7.2).
const (
	dynamicModule = "dynamic-provider"
	policyModule  = "run-policy-pack"
	pluginModule  = "run-plugin"
)

// StartPlugin runs a plugin in node. Policy packs get the directory of their sources after the arguments, other plugins before.
func (Runtime) StartPlugin(_ context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	if err := checkOptions(p); err != nil {
		return nil, err
	}
	executable, err := executableOf(p, c.Name)
	if err != nil {
		return nil, err
	}
	name := pluginModule
	var args []string
	switch {
	case c.Dynamic:
		name, args = dynamicModule, c.Args
	case c.Kind == plugin.Analyzer:
		name, args = policyModule, slices.Concat(c.Args, []string{located(p)})
	default:
		args = slices.Concat([]string{located(p)}, c.Args)
	}
	module, err := sdkModule(p, name)
	if err != nil {
		owner := "plugin"
		if c.Kind == plugin.Analyzer {
			owner = "policy pack"
		}
		return nil, fmt.Errorf("it looks like the %s's dependencies are not installed: %w", owner, err)
	}
	if !c.Dynamic {
		if err := checkEntry(p); err != nil {
			return nil, err
		}
	}
	x, err := prepare(p, executable, c.Name, "", waiting{direct.AnyDebugAddress, c.Debug}, append([]string{module}, args...)...)
	if err != nil {
		return nil, err
	}
	c.Environment = append(slices.Clip(c.Environment), x.env...)
	command := c.Command(p, x.executable, x.args...)
	command.Done, command.Intercept = x.done, x.debugger.Interceptor()
	return c.Start(command)
}

// Install installs the dependencies of the package of a program, whose package.json is in the directory of the program or above. A package
// of a workspace is installed with the whole workspace.
func (Runtime) Install(ctx context.Context, p source.Project, output func(plugin.Line)) error {
	if err := checkOptions(p); err != nil {
		return err
	}
	of, found := manifestAbove(p.Directory)
	if !found {
		return fmt.Errorf("there is no package.json in %s or above; `npm init` makes one", p.Directory)
	}
	m, err := managerOf(p)
	if err != nil {
		return err
	}
	return direct.Install(ctx, installedFrom(of.directory), nil, output, m.get, m.name, m.args...)
}

// About returns node and the package manager of the program.
func (Runtime) About(ctx context.Context, p source.Project) ([]tooling.Tool, error) {
	node, err := direct.Version(ctx, p.Directory, interpreterOf(p), "--version")
	if err != nil {
		return nil, err
	}
	m, err := managerOf(p)
	if err != nil || m.name == node.Name {
		return []tooling.Tool{node}, err
	}
	tool, err := direct.Version(ctx, p.Directory, m.name, "--version")
	if err != nil {
		return []tooling.Tool{node}, err
	}
	return []tooling.Tool{node, tool}, nil
}

// located returns the path of a plugin's sources, or of the entry point in them.
func located(p source.Project) string {
	return filepath.Join(p.Directory, p.Entry)
}
