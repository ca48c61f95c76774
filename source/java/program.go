package java

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// Program is a Java program.
type Program struct {
	project source.Project

	mu       sync.Mutex // guards prepared
	prepared *compiled  // what the runs use; nil if each compiles the program
}

// New returns the program of a project. Runtime options: binary, a jar that is built already; use-executor, the build tool.
func New(p source.Project) *Program { return &Program{project: p} }

var (
	_ source.Program  = (*Program)(nil)
	_ source.Preparer = (*Program)(nil)
)

// CompileError reports that a program does not compile, or that its build tool cannot start it. Output is the message of the compiler or
// the tool.
type CompileError struct{ Program, Output, Hint string }

func (e *CompileError) Error() string {
	msg := e.Program + " does not build:\n" + e.Output
	if e.Hint != "" {
		msg += "\n" + e.Hint
	}
	return msg
}

// Run runs what the last call of Prepare has compiled. Without one it compiles the program first. The end of ctx ends the compiler or the program, and
// everything that the program started.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	b, java, err := p.tools(ctx)
	if err != nil {
		return err
	}
	c := p.last()
	if c == nil && b.tool != jar {
		host.Monitor.Log(ctx, compiling(b))
	}
	wanted, done := host.Wanted(ctx)
	b, err = p.built(wanted, b, java, c, p.project.Args)
	done()
	if err != nil {
		return err
	}
	env, err := p.environment(host)
	if err != nil {
		return err
	}
	end := &held{begins: b.tool.begins, show: direct.Forward(direct.Log(ctx, host), p.project.Program())}
	command, done, err := b.command(java, plugin.Command{
		Name: p.project.Program(), Directory: p.project.Directory, Environment: append(os.Environ(), env...), Output: end.line,
	}, p.project.Args)
	if err != nil {
		return err
	}
	defer done()
	if p.project.Debug {
		undo, err := b.await(&command, direct.DebugAddress(usualPort), jdwp(p.project.Program(), direct.Log(ctx, host)))
		if err != nil {
			return err
		}
		defer undo()
	}
	exit, err := plugin.Run(ctx, command)
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		text := end.text()
		code, ok := b.tool.programStatus(text, exit.Code)
		if !ok {
			return p.compileError(b, java, text, exit)
		}
		if code != exit.Code {
			exit.Code, exit.Status = code, "exit status "+strconv.Itoa(code)
		}
	}
	return direct.Ended(p.project, exit, java.tooOldFor)
}

// ServeMonitor implements [source.MonitorServer].
func (p *Program) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
}

// Close does nothing: each run has its own process, which has ended when Run returns.
func (p *Program) Close() error { return nil }

// Prepare implements [source.Preparer]: the start of the build tool that lists the packages compiles the program for the following runs,
// too. Its errors are those of Run.
func (p *Program) Prepare(ctx context.Context, log func(stages.LogMessage)) error {
	p.keep(nil) // the sources may have changed
	b, java, err := p.tools(ctx)
	if err != nil || b.tool == jar {
		return nil //nolint:nilerr // Packages finds the same error
	}
	log(compiling(b))
	c, err := p.compileOnce(ctx, b, java, p.project.Args)
	if err != nil {
		return err
	}
	p.keep(&c)
	return nil
}

// compiling is the message before a program is compiled.
func compiling(b build) stages.LogMessage {
	return stages.LogMessage{Severity: stages.Info, Message: "compiling with " + b.tool.title(), Ephemeral: true}
}

// keep sets what the runs use.
func (p *Program) keep(c *compiled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prepared = c
}

// last returns what the last call of Prepare has compiled, nil if nothing was.
func (p *Program) last() *compiled {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.prepared
}

// built returns the build of a compiled program with how it is started with arguments. c is what was compiled, nil if nothing was. A jar is compiled.
func (p *Program) built(ctx context.Context, b build, java jdk, c *compiled, args []string) (build, error) {
	if b.tool == jar {
		return b, nil
	}
	if c == nil {
		made, err := p.compileOnce(ctx, b, java, args)
		if err != nil {
			return b, err
		}
		c = &made
	}
	switch {
	case c.err != nil:
		return b, c.err
	case c.start != nil:
		b.tool, b.start = jar, c.start
	case !c.complete:
		return b, p.compile(ctx, b, java)
	}
	return b, nil
}

// tools finds the build tool and the JDK of the program.
func (p *Program) tools(ctx context.Context) (build, jdk, error) {
	b, err := find(p.project)
	if err != nil {
		return build{}, jdk{}, err
	}
	java, err := findJDK(ctx, p.project.Directory)
	return b, java, err
}

// compileOnce compiles the program in one start of its build tool, which also tells the class path, and how to start the program with arguments.
// Errors of the program are in the result.
func (p *Program) compileOnce(ctx context.Context, b build, java jdk, args []string) (compiled, error) {
	folder, err := os.MkdirTemp("", "sluice-java-")
	if err != nil {
		return compiled{}, fmt.Errorf("compile %s: %w", p.project.Program(), err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "start")
	list, done, err := b.describe(file, args)
	if err != nil {
		return compiled{}, err
	}
	defer done()
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: string(b.tool), Executable: b.executable, Args: list, Directory: b.directory, Environment: os.Environ(),
	})
	if err != nil {
		return compiled{}, err
	}
	if b.tool == gradle {
		return p.compiledByGradle(b, java, gradleStart(file), stdout+"\n"+stderr, exit), nil
	}
	return p.compiledByMaven(b, java, file, args, stdout+"\n"+stderr, exit), nil
}

// compiledByGradle returns what Gradle has compiled.
func (p *Program) compiledByGradle(b build, java jdk, s *start, output string, exit plugin.Exit) compiled {
	switch {
	case exit.Code != 0 && (strings.Contains(output, gradleTask) || strings.Contains(output, "sluice-start-")):
		return compiled{} // the description itself has failed
	case exit.Code != 0:
		return compiled{err: p.compileError(b, java, output, exit)}
	case s == nil:
		return compiled{complete: true}
	}
	return compiled{complete: true, classPath: s.classPath, start: s}
}

// compiledByMaven returns what Maven has compiled. file has the class path of the dependencies.
func (p *Program) compiledByMaven(b build, java jdk, file string, args []string, output string, exit plugin.Exit) compiled {
	goals, output := mavenGoals(output)
	var c compiled
	text, err := os.ReadFile(file)
	if err == nil {
		c.classPath = filepath.SplitList(strings.TrimSpace(string(text)))
	}
	if exit.Code != 0 {
		if mavenFailed(goals, output) {
			c.err = p.compileError(b, java, output, exit)
		}
		return c
	}
	c.complete = true
	if options, ok := mavenOptions(b.directory); ok && err == nil {
		c.start = mavenStart(goals, c.classPath, args, options)
	}
	if c.start != nil {
		c.classPath = c.start.classPath
	}
	return c
}

// compile compiles the program, and does nothing else.
func (p *Program) compile(ctx context.Context, b build, java jdk) error {
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: string(b.tool), Executable: b.executable, Args: b.compileArguments(), Directory: b.directory, Environment: os.Environ(),
	})
	if err != nil || exit.Code == 0 {
		return err
	}
	return p.compileError(b, java, stdout+"\n"+stderr, exit)
}

func (p *Program) compileError(b build, java jdk, text string, exit plugin.Exit) error {
	if b.tool == maven && strings.Contains(text, "'mainClass'") {
		return fmt.Errorf("pom.xml in %s does not say which class is the program; name it in the configuration of the plugin "+
			"exec-maven-plugin: <mainClass>myproject.App</mainClass>", p.project.Directory)
	}
	return &CompileError{
		Program: p.project.Program(), Output: cmp.Or(b.tool.explain(text, p.project.Directory), exit.Status), Hint: java.tooOldFor(text),
	}
}

// environment returns the variables for the SDK, in addition to the environment of sluice.
func (p *Program) environment(host source.Host) ([]string, error) {
	// Ports, not sockets: gRPC for Java dials sockets only on some systems, and only in newer versions.
	monitor, err := host.MonitorService.Address()
	if err != nil {
		return nil, fmt.Errorf("let %s call the engine: %w", p.project.Program(), err)
	}
	engine, err := source.AddressOf(host.Engine)
	if err != nil {
		return nil, fmt.Errorf("let %s call the engine: %w", p.project.Program(), err)
	}
	env, err := direct.Environment(p.project, monitor, engine, host.Monitor.Info())
	if err != nil {
		return nil, err
	}
	return append(env, "PULUMI_PWD="+p.project.Directory), nil
}

// Packages lists the packages of providers whose SDKs are on the program's class path ([protocol.md 1.12]). Like the language plugin it
// returns nothing if it cannot read them, for example from a program that does not compile: the run of the program reports the reason.
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	b, java, err := p.tools(ctx)
	if err != nil {
		return nil, err
	}
	found, err := p.manifests(ctx, b, java)
	if err != nil {
		return nil, err
	}
	var list []stages.Package
	for _, f := range found {
		if f.Resource && f.Name != "" {
			f.Version = strings.TrimSpace(f.Version)
			list = append(list, f.Package("", ""))
		}
	}
	sdk.Sort(list)
	return list, nil
}

// manifests returns the manifests of the SDKs on the program's class path, none if it is not known.
func (p *Program) manifests(ctx context.Context, b build, java jdk) ([]sdk.Manifest, error) {
	classPath := []string{b.jar}
	if b.tool != jar {
		c := p.last()
		if c == nil {
			made, err := p.compileOnce(ctx, b, java, p.project.Args)
			if err != nil {
				return nil, err
			}
			c = &made
		}
		if classPath = c.classPath; classPath == nil && (c.err != nil || b.tool == maven) {
			return nil, nil
		}
	}
	if classPath != nil {
		if list, err := manifests(classPath); !errors.Is(err, errAskClass) {
			return list, err
		}
	}
	printed, err := p.discover(ctx, b, java, classPath)
	if err != nil {
		return nil, err
	}
	var list []sdk.Manifest
	if json.Unmarshal([]byte(printed), &list) != nil {
		return nil, nil // the class could not be run, and has printed something else
	}
	return list, nil
}

// discover returns the SDK's own output about a class path, or about that of the program if Gradle alone knows it. If the SDK cannot be run, the result
// is any other text.
func (p *Program) discover(ctx context.Context, b build, java jdk, classPath []string) (string, error) {
	if classPath != nil {
		return p.output(ctx, java.java, p.project.Directory, "-cp", strings.Join(classPath, string(os.PathListSeparator)), discovery, "packages")
	}
	args, done, err := b.launch(discovery, []string{"packages"})
	if err != nil {
		return "", err
	}
	defer done()
	return p.output(ctx, b.executable, b.directory, args...)
}

// output returns the standard output of a command, whatever its exit status.
func (p *Program) output(ctx context.Context, executable, directory string, args ...string) (string, error) {
	stdout, _, _, err := plugin.Output(ctx, plugin.Command{
		Name: filepath.Base(executable), Executable: executable, Args: args, Directory: directory, Environment: os.Environ(),
	})
	return stdout, err
}

// usualPort is the port to which editors connect by default.
const usualPort = 5005

// jdwp finds the place where a JVM waits. name is the name of the process in editors.
func jdwp(name string, log func(stages.LogMessage)) *direct.Debugger {
	return &direct.Debugger{
		Tool:    "Java",
		Listens: regexp.MustCompile(`^Listening for transport dt_socket at address: (\d+)$`),
		Config: func(_ string, port, _ int) map[string]any {
			return map[string]any{"name": name, "type": "java", "request": "attach", "hostName": "127.0.0.1", "port": port}
		},
		Log: log,
	}
}
