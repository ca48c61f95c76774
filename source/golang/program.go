package golang

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
)

// Program is a Go program.
type Program struct {
	project source.Project

	mu  sync.Mutex // guards dir
	dir string     // where the binary is built; "" before the first run
}

// New returns the program of a project. Options of the runtime that it knows: binary, a program that is built already;
// buildTarget, where to put what is built. Both are relative to the program's directory.
func New(p source.Project) *Program { return &Program{project: p} }

var _ source.Program = (*Program)(nil)

// BuildError says that a program does not compile. Output is the compiler's own text.
type BuildError struct{ Program, Output string }

func (e *BuildError) Error() string { return e.Program + " does not build:\n" + e.Output }

// Run builds the program and runs it. The end of ctx ends either, and everything that the program started.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	binary, err := p.binary(ctx)
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
	return direct.Run(ctx, host, p.project, direct.Command{Executable: binary, Args: p.project.Args, Env: env})
}

// Close deletes what was built.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == "" {
		return nil
	}
	err := os.RemoveAll(p.dir)
	p.dir = ""
	return err
}

// binary returns the executable to run, which is built for each run: the program may have changed, and the go
// command's cache makes it cheap when it has not.
func (p *Program) binary(ctx context.Context) (string, error) {
	if given := p.project.Option("binary"); given != "" {
		path := p.path(given)
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return "", fmt.Errorf("the runtime option `binary` names %s, which does not exist; build it, or remove the option", path)
		}
		return path, nil
	}
	target, err := p.target()
	if err != nil {
		return "", err
	}
	if _, err := p.goCommand(ctx, "build", "-buildvcs=false", "-o", target, p.pattern()); err != nil {
		return "", err
	}
	return target, nil
}

func (p *Program) path(option string) string {
	if filepath.IsAbs(option) {
		return option
	}
	return filepath.Join(p.project.Directory, option)
}

func (p *Program) target() (string, error) {
	if given := p.project.Option("buildTarget"); given != "" {
		return p.path(given), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == "" {
		dir, err := os.MkdirTemp("", "sluice-go-")
		if err != nil {
			return "", fmt.Errorf("make a directory to build %s in: %w", p.project.Program(), err)
		}
		p.dir = dir
	}
	name := "program"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(p.dir, name), nil
}

// pattern is the program as the go command names packages and files.
func (p *Program) pattern() string {
	if p.project.Entry == "" || p.project.Entry == "." {
		return "."
	}
	return "./" + filepath.ToSlash(p.project.Entry)
}

// goCommand returns the standard output of a go command. A *BuildError has what it wrote to standard error.
func (p *Program) goCommand(ctx context.Context, args ...string) (string, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("go was not found on your $PATH, and %s needs it; %s, or name a binary with the runtime option `binary`",
			p.project.Program(), direct.HowToGet("Go", "golang", "go"))
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
