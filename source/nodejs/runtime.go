package nodejs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
)

// Runtime runs programs and plugins in node.
type Runtime struct{}

var _ source.Runtime = Runtime{}

// Program returns the program of a project; see [New].
func (Runtime) Program(p source.Project) source.Program { return New(p) }

// modules are the entry points of the SDK that serve plugins (protocol.md 1.10, 6.2, 7.2).
const (
	dynamicModule = "dynamic-provider"
	policyModule  = "run-policy-pack"
	pluginModule  = "run-plugin"
)

// StartPlugin runs a plugin in node. Policy packs get the directory of their sources after the arguments, other plugins before.
func (Runtime) StartPlugin(_ context.Context, p source.Project, c source.PluginCommand) (plugin.Server, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, errors.New("node was not found on your $PATH; install Node.js to run " + c.Name)
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
	module, err := sdkModule(p.Directory, name)
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
	first, err := writePreload()
	if err != nil {
		return nil, err
	}
	c.Environment = append(slices.Clip(c.Environment), options(p)...)
	command := c.Command(p, node, slices.Concat([]string{"--require", first}, nodeArguments(p.Options["nodeargs"]), []string{module}, args)...)
	command.Done = func() { _ = os.Remove(first) }
	if c.Debug != nil {
		command.Args = append([]string{"--inspect-brk=" + direct.AnyDebugAddress}, command.Args...)
		command.Intercept = inspector(c.Name, c.Debug).Intercept
	}
	return plugin.Start(command)
}

// located is the directory of a plugin's sources, or what in it is to be run.
func located(p source.Project) string {
	return filepath.Join(p.Directory, p.Entry)
}
