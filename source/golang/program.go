package golang

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/platform/cache"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// Program is a Go program. It keeps nothing between runs, except what Prepare has built for them.
type Program struct {
	project source.Project

	mu       sync.Mutex // guards prepared
	prepared *building  // what the runs use; nil if each builds the program
}

// New returns the program of a project. Runtime options: binary, a program that is built already; buildTarget, the path of the executable
// to build. Both are relative to the program's directory.
func New(p source.Project) *Program { return &Program{project: p} }

var (
	_ source.Program  = (*Program)(nil)
	_ source.Preparer = (*Program)(nil)
)

// BuildError reports that a program does not compile. Output is the compiler's own text.
type BuildError struct{ Program, Output string }

func (e *BuildError) Error() string {
	text := e.Program + " does not build:\n" + e.Output
	if strings.Contains(e.Output, "go.mod file not found") {
		text += "\nmake it there with `go mod init NAME`, and then run `go mod tidy`, which writes into it what the program needs"
	}
	if missingModule().MatchString(e.Output) {
		text += "\nrun `go mod tidy` there: it writes into go.mod and go.sum what is missing" // go's own advice covers one package at a time
	}
	return text
}

// missingModule matches the messages of the go command about modules that go.mod or go.sum lacks.
var missingModule = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`missing go\.sum entry|no required module provides package|updates to go\.(mod|sum) needed`)
})

// Run runs what the last call of Prepare has built. Without one it builds the program first. The end of ctx ends the build or the program, and everything
// that the program started.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	var debugger *delve
	if p.project.Debug {
		var err error
		if debugger, err = newDelve(p.project.Program(), direct.Log(ctx, host)); err != nil {
			return err
		}
	}
	wanted, done := host.Wanted(ctx)
	binary, err := p.built(wanted, debugger != nil, direct.Log(ctx, host))
	done()
	if err != nil {
		return err
	}
	monitor, engine, err := direct.Addresses(host, p.project)
	if err != nil {
		return err
	}
	env, err := direct.Environment(p.project, monitor, engine, host.Monitor.Info())
	if err != nil {
		return err
	}
	if debugger != nil {
		return p.debug(ctx, host, debugger, binary, env)
	}
	return direct.Run(ctx, host, p.project, direct.Command{Executable: binary, Args: p.project.Args, Env: env})
}

// debug runs the program in the debugger. If the user ends the session first, the program has failed: its declarations are incomplete.
func (p *Program) debug(ctx context.Context, host source.Host, d *delve, binary string, env []string) error {
	exit := plugin.Exit{Code: -1, Status: "the debugging session"}
	running, ended := context.WithCancel(ctx)
	defer ended()
	var watch conc.WaitGroup
	watch.Go(func() {
		if status, known := d.watch(running); known {
			exit = plugin.Exit{Code: status, Status: fmt.Sprintf("exit status %d", status)}
		}
	})
	err := direct.Run(ctx, host, p.project, direct.Command{
		Executable: d.executable, Args: d.arguments(direct.DebugAddress(usualPort), binary, p.project.Args), Env: env, Debugger: d.debugger,
	})
	ended()
	watch.Wait()
	if err != nil {
		return err
	}
	return direct.Ended(p.project, exit, nil)
}

// Prepare implements [source.Preparer]: it begins to build the program, so that the go command lists the packages meanwhile. The following runs wait for
// the build and have its errors.
func (p *Program) Prepare(ctx context.Context, _ func(stages.LogMessage)) error {
	if p.project.Option("binary") != "" || p.project.Debug {
		return nil
	}
	p.replace(nil) // the sources may have changed
	p.replace(begin(context.WithoutCancel(ctx), func(ctx context.Context, log func(stages.LogMessage)) (string, error) {
		return p.binary(ctx, false, log)
	}))
	return nil
}

// replace sets the build that runs use, nil for none, and ends the one before.
func (p *Program) replace(b *building) {
	p.mu.Lock()
	before := p.prepared
	p.prepared = b
	p.mu.Unlock()
	before.abandon()
}

// built returns the executable to run: of the build that Prepare has begun, if there is one.
func (p *Program) built(ctx context.Context, debug bool, log func(stages.LogMessage)) (string, error) {
	p.mu.Lock()
	b := p.prepared
	p.mu.Unlock()
	if b != nil {
		return b.wait(ctx, log)
	}
	return p.binary(ctx, debug, log)
}

// ServeMonitor implements [source.MonitorServer].
func (p *Program) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
}

// Close ends a build whose program was not run. Each run has its own process, which has ended when Run returns.
func (p *Program) Close() error {
	p.replace(nil)
	return nil
}

// binary returns the executable to run, which is built for each run because the program may have changed. debug is true for one that a
// debugger can step through line by line. log receives a message when something is compiled.
func (p *Program) binary(ctx context.Context, debug bool, log func(stages.LogMessage)) (string, error) {
	if given := p.project.Option("binary"); given != "" {
		path := p.path(given)
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return "", fmt.Errorf("the runtime option `binary` names %s, which does not exist; build it, or remove the option", path)
		}
		return path, nil
	}
	target, err := p.target(debug)
	if err != nil {
		return "", err
	}
	return target, p.build(ctx, target, debug, log)
}

func (p *Program) path(option string) string {
	if filepath.IsAbs(option) {
		return option
	}
	return filepath.Join(p.project.Directory, option)
}

// target returns the path of the executable: always the same one, so that the go command can skip an unchanged build.
func (p *Program) target(debug bool) (string, error) {
	if given := p.project.Option("buildTarget"); given != "" {
		return p.path(given), nil
	}
	dir, err := cache.Folder("go", p.project.Directory+"\n"+p.pattern())
	if err != nil {
		return "", fmt.Errorf("make a place to build %s in: %w; the runtime option `buildTarget` names another", p.project.Program(), err)
	}
	name := "program"
	if debug {
		name += "-debug" // the build without it stays up to date
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name), nil
}

// pattern returns the program in the form of a package argument of the go command.
func (p *Program) pattern() string {
	if p.project.Entry == "" || p.project.Entry == "." {
		return "."
	}
	return "./" + filepath.ToSlash(p.project.Entry)
}

// packageName matches the lines with the names of the packages that the go command compiles.
var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./~@+-]+$`) })

// build brings an executable up to date with the go command. A *BuildError has the command's standard error.
func (p *Program) build(ctx context.Context, target string, debug bool, log func(stages.LogMessage)) error {
	path, err := p.goExecutable()
	if err != nil {
		return err
	}
	logged := false
	compiling := func() {
		if !logged {
			logged = true
			log(stages.LogMessage{Severity: stages.Info, Message: "compiling the program with Go", Ephemeral: true})
		}
	}
	if _, err := os.Stat(target); err != nil {
		compiling()
	}
	args := []string{"build", "-v", "-buildvcs=false", "-o", target}
	if debug {
		args = append(args, "-gcflags=all=-N -l")
	}
	env := os.Environ()
	if p.project.Option("buildTarget") == "" {
		// The linked file is renamed to the target: another run may start the target at any moment.
		env = append(env, "GOTMPDIR="+filepath.Dir(target))
	}
	var stderr strings.Builder
	exit, err := plugin.Run(ctx, plugin.Command{
		Name: "go build", Executable: path, Args: append(args, p.pattern()), Directory: p.project.Directory, Environment: env,
		Output: func(l plugin.Line) {
			switch {
			case !l.Stderr:
			case packageName().MatchString(l.Text):
				compiling()
			default:
				stderr.WriteString(l.Text + "\n")
			}
		},
	})
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return &BuildError{Program: p.project.Program(), Output: cmp.Or(strings.TrimSpace(stderr.String()), exit.Status)}
	}
	if isLibrary(target) {
		return &BuildError{Program: p.project.Program(), Output: "what was built is a library: does your program have a 'main' package?"}
	}
	return nil
}

// isLibrary reports whether a file is an archive, which the go command builds for a package that is not main.
func isLibrary(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(archiveHead))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == archiveHead
}

const archiveHead = "!<arch>\n"

func (p *Program) goExecutable() (string, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("go was not found on your $PATH, and %s needs it; %s, or name a binary with the runtime option `binary`",
			p.project.Program(), direct.HowToGet("Go", "golang", "go"))
	}
	return path, nil
}

// goCommand returns the standard output of a go command. A *BuildError has its standard error.
func (p *Program) goCommand(ctx context.Context, args ...string) (string, error) {
	path, err := p.goExecutable()
	if err != nil {
		return "", err
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "go " + args[0], Executable: path, Args: args, Directory: p.project.Directory, Environment: os.Environ(),
	})
	if err != nil {
		return "", err
	}
	if exit.Code != 0 {
		return "", &BuildError{Program: p.project.Program(), Output: cmp.Or(strings.TrimSpace(stderr), exit.Status)}
	}
	return stdout, nil
}

// Packages lists the packages whose SDKs the program imports. It returns nothing for a program that is built already.
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	if p.project.Option("binary") != "" {
		return nil, nil
	}
	listing, err := p.goCommand(ctx, "list", "-deps", "-f",
		"{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{end}}{{.Dir}}", p.pattern())
	if err != nil {
		return nil, err
	}
	found := make(map[string]stages.Package)
	for line := range strings.Lines(listing) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(fields) != 4 {
			continue // of the standard library
		}
		m := module{path: fields[0], version: strings.TrimPrefix(fields[1], "v"), root: fields[2]}
		if pkg, ok := m.pkg(fields[3]); ok {
			found[pkg.Name+" "+pkg.Version+" "+sdk.Parameters(pkg)] = pkg
		}
	}
	list := make([]stages.Package, 0, len(found))
	for _, pkg := range found {
		list = append(list, pkg)
	}
	sdk.Sort(list)
	return list, nil
}
