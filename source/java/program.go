package java

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// Program is a Java program. It keeps nothing between runs.
type Program struct{ project source.Project }

// New returns the program of a project. Runtime options: binary, a jar that is built already; use-executor, the build tool.
func New(p source.Project) *Program { return &Program{project: p} }

var _ source.Program = (*Program)(nil)

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

// Run compiles the program and runs it. The end of ctx ends the compiler or the program, and everything that the program started.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	b, java, err := p.prepare(ctx)
	if err != nil {
		return err
	}
	if b.tool != jar {
		host.Monitor.Log(ctx, stages.LogMessage{Severity: stages.Info, Message: "compiling with " + b.tool.title(), Ephemeral: true})
	}
	if b.tool == gradle {
		wanted, done := host.Wanted(ctx)
		err := p.compile(wanted, b, java)
		done()
		if err != nil {
			return err
		}
	}
	env, err := p.environment(host)
	if err != nil {
		return err
	}
	args, done, err := b.launch("", p.project.Args)
	if err != nil {
		return err
	}
	defer done()
	end := &held{begins: b.tool.begins, show: direct.Forward(direct.Log(ctx, host), p.project.Program())}
	command := plugin.Command{
		Name: p.project.Program(), Executable: cmp.Or(b.executable, java.java), Args: args,
		Directory: p.project.Directory, Environment: append(os.Environ(), env...), Output: end.line,
	}
	if p.project.Debug {
		done, err := b.await(&command, direct.DebugAddress(usualPort), jdwp(p.project.Program(), direct.Log(ctx, host)))
		if err != nil {
			return err
		}
		defer done()
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

// prepare finds the build tool and the JDK of the program.
func (p *Program) prepare(ctx context.Context) (build, jdk, error) {
	b, err := find(p.project)
	if err != nil {
		return build{}, jdk{}, err
	}
	java, err := findJDK(ctx, p.project.Directory)
	return b, java, err
}

// compile compiles the program, unless it is a jar. The tool's cache makes this cheap when nothing has changed.
func (p *Program) compile(ctx context.Context, b build, java jdk) error {
	if b.tool == jar {
		return nil
	}
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

// discovery is the class of the SDK that, with the argument "packages", prints the packages of the SDKs on the class path.
const discovery = "com.pulumi.bootstrap.internal.Main"

// Packages lists the packages of providers whose SDKs are on the program's class path (protocol.md 1.12). Like the language plugin it
// returns nothing if it cannot read them, for example from a program that does not compile: the run of the program reports the reason.
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	b, java, err := p.prepare(ctx)
	if err != nil {
		return nil, err
	}
	printed, err := p.discover(ctx, b, java)
	if err != nil {
		return nil, err
	}
	var found []sdk.Manifest
	if json.Unmarshal([]byte(printed), &found) != nil {
		return nil, nil
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

// discover returns the SDK's output about the class path. If the SDK cannot be run, the result is any other text.
func (p *Program) discover(ctx context.Context, b build, java jdk) (string, error) {
	switch b.tool {
	case gradle:
		args, done, err := b.launch(discovery, []string{"packages"})
		if err != nil {
			return "", err
		}
		defer done()
		return p.output(ctx, b.executable, b.directory, args...)
	case jar:
		return p.output(ctx, java.java, p.project.Directory, "-cp", b.jar, discovery, "packages")
	}
	folder, err := os.MkdirTemp("", "sluice-java-")
	if err != nil {
		return "", fmt.Errorf("list the packages of %s: %w", p.project.Program(), err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "classpath")
	_, err = p.output(ctx, b.executable, b.directory, append(slices.Clone(quiet), "dependency:build-classpath",
		"-Dmdep.outputFile="+file, "-Dmdep.includeScope=runtime")...)
	if err != nil {
		return "", err
	}
	path, err := os.ReadFile(file)
	if err != nil {
		return "", nil // Maven could not find the dependencies
	}
	return p.output(ctx, java.java, p.project.Directory, "-cp", strings.TrimSpace(string(path)), discovery, "packages")
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
