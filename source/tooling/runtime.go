package tooling

import (
	"context"
	"errors"
	"io"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// Runtime runs programs in one language, and plugins in source form ([protocol.md 1.10]). It keeps nothing between calls and may be used from
// many goroutines.
//
// [protocol.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#110-plugins-in-a-language
type Runtime interface {
	// Program returns the program of a project.
	Program(p source.Project) source.Program
	// StartPlugin starts a plugin. p is the plugin as a program, or for a provider of dynamic resources the program with the resources. The
	// caller must stop the returned server. The error is [ErrNoPlugins] if the runtime runs only programs; it may also report that the
	// language is not installed.
	StartPlugin(ctx context.Context, p source.Project, c PluginCommand) (plugin.Server, error)
	// Install installs the dependencies of a program with the package manager of the language, whose output goes to output.
	Install(ctx context.Context, p source.Project, output func(plugin.Line)) error
	// About describes the tools that would run a program. It runs them to get their versions.
	About(ctx context.Context, p source.Project) ([]Tool, error)
}

// ErrNoPlugins is returned by [Runtime].StartPlugin if the runtime runs only programs.
var ErrNoPlugins = errors.New("the language plugin does not run plugins")

// Tool is an executable that takes part in running a program.
type Tool struct {
	Name    string // "node", "npm"
	Version string // as the tool prints it, on one line
	Path    string
}

// PluginCommand defines how to run a plugin in source form.
type PluginCommand struct {
	Kind    plugin.Kind
	Name    string // for messages
	Version string // for messages; "" if it is not known
	// Dynamic is true for the provider of dynamic resources, which is part of the language's SDK.
	Dynamic     bool
	Args        []string
	Directory   string            // the working directory; "" is that of the plugin's sources
	Environment []string          // all of it, "NAME=value"
	Output      func(plugin.Line) // receives the output after the port, one line at a time; nil discards
	// Debug makes the plugin wait for a debugger before it does anything, and receives the place where it waits; nil starts it without one.
	Debug func(stages.LogMessage)
	// Foreground is set for a plugin that runs at a terminal and serves nothing, such as a tool. [Runtime.StartPlugin] then returns when
	// the plugin has ended, without a server.
	Foreground *Foreground
}

// Foreground defines how a plugin runs at a terminal.
type Foreground struct {
	// Run runs the process of a plugin until it ends, and returns its status.
	Run func(plugin.Command) (status int, err error)
	// Out and Err receive the output of a plugin that runs through a language plugin.
	Out, Err io.Writer
	// Status is the exit status of the plugin.
	Status int
}

// Start starts the process of a plugin, or runs it in the foreground.
func (c PluginCommand) Start(command plugin.Command) (plugin.Server, error) {
	if c.Foreground == nil {
		process, err := plugin.Start(command)
		if err != nil {
			return nil, err // not a nil pointer in an interface
		}
		return process, nil
	}
	if command.Done != nil {
		defer command.Done()
	}
	var err error
	c.Foreground.Status, err = c.Foreground.Run(command)
	return nil, err
}

// Command returns the command that runs an executable with arguments.
func (c PluginCommand) Command(p source.Project, executable string, args ...string) plugin.Command {
	directory := c.Directory
	if directory == "" {
		directory = p.Directory
	}
	return plugin.Command{
		Name: c.Name, Version: c.Version, Sources: p.Directory, Executable: executable, Args: args, Directory: directory,
		Environment: c.Environment, Output: c.Output,
	}
}
