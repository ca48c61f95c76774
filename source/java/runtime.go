package java

import (
	"context"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Runtime runs programs and plugins with Maven, with Gradle, or as jars.
type Runtime struct{}

var _ tooling.Runtime = Runtime{}

// Program returns the program of a project; see [New].
func (Runtime) Program(p source.Project) source.Program { return New(p) }

// StartPlugin compiles a plugin and runs it.
func (Runtime) StartPlugin(ctx context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	if c.Dynamic || c.Kind == plugin.Analyzer {
		return nil, tooling.ErrNoPlugins // the SDK for Java has neither dynamic resources nor policies
	}
	program := New(p)
	b, java, err := program.tools(ctx)
	if err != nil {
		return nil, err
	}
	if b, err = program.built(ctx, b, java, nil, c.Args); err != nil {
		return nil, err
	}
	command, done, err := b.command(java, c.Command(p, ""), c.Args)
	if err != nil {
		return nil, err
	}
	command.Done = done
	if b.tool == gradle {
		command.Intercept = func(_ int, line string) bool { return ofJVM().MatchString(terminal.Plain(line)) }
	}
	if c.Debug != nil {
		undo, err := b.await(&command, direct.AnyDebugAddress, jdwp(c.Name, c.Debug))
		if err != nil {
			done()
			return nil, err
		}
		command.Done = func() { done(); undo() }
	}
	return c.Start(command)
}

// Install downloads the dependencies of a program and compiles it, unless it is built already.
func (Runtime) Install(ctx context.Context, p source.Project, output func(plugin.Line)) error {
	b, _, err := New(p).tools(ctx)
	if err != nil || b.tool == jar {
		return err
	}
	return direct.Install(ctx, b.directory, nil, output, "", b.executable, b.compileArguments()...)
}

// About returns the JDK and the build tool of a program.
func (Runtime) About(ctx context.Context, p source.Project) ([]tooling.Tool, error) {
	b, java, err := New(p).tools(ctx)
	if err != nil {
		return nil, err
	}
	tools := []tooling.Tool{{Name: "java", Version: java.version, Path: java.java}}
	if b.tool == jar {
		return tools, nil
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: string(b.tool), Executable: b.executable, Args: []string{"--version"}, Directory: b.directory, Environment: os.Environ(),
	})
	if err != nil {
		return tools, err
	}
	version := b.tool.version(stdout)
	if exit.Code != 0 || version == "" {
		return tools, fmt.Errorf("%s does not tell its version (%s)%s", b.executable, exit.Status, direct.Below(stderr))
	}
	return append(tools, tooling.Tool{Name: string(b.tool), Version: version, Path: b.executable}), nil
}
