package source

import (
	"context"
	"io"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/stages"
)

// Runtime runs what is written in one program language: programs, and plugins that are programs (protocol.md 1.10). It keeps
// nothing between calls and may be used from many goroutines.
type Runtime interface {
	// Program returns the program of a project.
	Program(p Project) Program
	// StartPlugin starts a plugin. p is the plugin as a program; for a provider of dynamic resources it is the program whose
	// resources they are. The caller must stop what is returned. Errors are [ErrNoPlugins] where only programs can be run, and
	// those of a language that is not installed.
	StartPlugin(ctx context.Context, p Project, c PluginCommand) (plugin.Server, error)
	// Install installs what a program needs with the package manager of the language. said gets what that prints.
	Install(ctx context.Context, p Project, said func(plugin.Line)) error
	// About describes the tools that would run a program. It starts them to ask for their versions.
	About(ctx context.Context, p Project) ([]Tool, error)
}

// Tool is an executable that takes part in running a program.
type Tool struct {
	Name    string // "node", "npm"
	Version string // as it says itself, on one line
	Path    string
}

// PluginCommand defines how to run a plugin that is written in a program language.
type PluginCommand struct {
	Kind    plugin.Kind
	Name    string // what messages call it
	Version string // for messages; "" if it is not known
	// Dynamic is true for the provider of dynamic resources, which is part of the language's SDK.
	Dynamic     bool
	Args        []string
	Directory   string            // the working directory; "" is that of the plugin's sources
	Environment []string          // all of it, "NAME=value"
	Output      func(plugin.Line) // gets what it prints after its port, one line at a time; nil discards
	// Debug makes the plugin wait for a debugger before it does anything, and is told where it waits; nil starts it without one.
	Debug func(stages.LogMessage)
	// Foreground is set for a plugin that is used at a terminal and serves nothing, as tools are: [Runtime.StartPlugin] returns no server,
	// but when the plugin has ended.
	Foreground *Foreground
}

// Foreground is how a plugin is run at a terminal.
type Foreground struct {
	// Run runs the process of a plugin until it ends, and returns its status.
	Run func(plugin.Command) (status int, err error)
	// Out and Err get what a plugin writes that a language plugin runs.
	Out, Err io.Writer
	// Status is that of the plugin when it has ended.
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

// Command returns the process for an executable with arguments.
func (c PluginCommand) Command(p Project, executable string, args ...string) plugin.Command {
	directory := c.Directory
	if directory == "" {
		directory = p.Directory
	}
	return plugin.Command{
		Name: c.Name, Version: c.Version, Sources: p.Directory, Executable: executable, Args: args, Directory: directory,
		Environment: c.Environment, Output: c.Output,
	}
}
