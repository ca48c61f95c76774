package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"

	"github.com/sluice-iac/sluice/bench/shape"
)

// workbench is a temporary directory with the executables and the project that processes are measured with.
type workbench struct {
	directory string
}

const modulePath = "github.com/sluice-iac/sluice"

// newWorkbench builds the executables: the command line, the plugin, the program and the floor. The working directory
// must be in the module.
func newWorkbench(ctx context.Context) (*workbench, error) {
	directory, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	b := &workbench{directory: directory}
	bin := filepath.Join(directory, "bin") + string(filepath.Separator)
	packages := []string{"cmd/sluice", "providers/internal/pulumi-resource-simple", "bench/program", "bench/floor"}
	args := []string{"build", "-buildvcs=false", "-o", bin}
	for _, p := range packages {
		args = append(args, modulePath+"/"+p)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		b.close()
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		b.close()
		return nil, fmt.Errorf("building what is measured: %w\n%s", err, out)
	}
	if err := b.makeProject(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *workbench) close() { _ = os.RemoveAll(b.directory) }

func (b *workbench) executable(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(b.directory, "bin", name)
}

func (b *workbench) project() string { return filepath.Join(b.directory, "project") }

func (b *workbench) makeProject() error {
	for _, d := range []string{"project", "state", "home"} {
		if err := os.Mkdir(filepath.Join(b.directory, d), 0o755); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("name: bench\nruntime:\n  name: go\n  options:\n    binary: %q\n", b.executable("program"))
	return os.WriteFile(filepath.Join(b.project(), "Pulumi.yaml"), []byte(text), 0o644)
}

// load describes what a program process declares.
type load struct {
	shape, client string
	size          int
}

func (b *workbench) environment(l load) []string {
	return append(os.Environ(),
		"PATH="+filepath.Join(b.directory, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PULUMI_HOME="+filepath.Join(b.directory, "home"),
		"PULUMI_BACKEND_URL=file://"+filepath.ToSlash(filepath.Join(b.directory, "state")),
		"PULUMI_CONFIG_PASSPHRASE=benchmark", "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_STACK=",
		shape.EnvShape+"="+l.shape, shape.EnvClient+"="+l.client, fmt.Sprintf("%s=%d", shape.EnvSize, l.size))
}

// run runs a process in the project. The measured work includes that of the processes that it started and waited for.
func (b *workbench) run(ctx context.Context, l load, executable string, args ...string) (reading, error) {
	return b.measure(ctx, l, (*exec.Cmd).Run, executable, args...)
}

// runOnTerminal is run on a terminal of 120 by 40 cells. What is drawn is read and forgotten.
func (b *workbench) runOnTerminal(ctx context.Context, l load, executable string, args ...string) (reading, error) {
	return b.measure(ctx, l, func(cmd *exec.Cmd) error {
		out := cmd.Stdout
		cmd.Stdout, cmd.Stderr = nil, nil
		cmd.Env = append(cmd.Env, "TERM=xterm-256color", "CI=")
		screen, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
		if err != nil {
			return err
		}
		var read sync.WaitGroup
		read.Go(func() { _, _ = io.Copy(out, screen) }) // ends with the process
		err = cmd.Wait()
		read.Wait()
		return errors.Join(err, screen.Close())
	}, executable, args...)
}

func (b *workbench) measure(ctx context.Context, l load, run func(*exec.Cmd) error, executable string, args ...string) (reading, error) {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.project(), b.environment(l), &output, &output
	began := time.Now()
	err := run(cmd)
	took := time.Since(began)
	if err != nil {
		return reading{}, fmt.Errorf("%s %s: %w\n%s", filepath.Base(executable), strings.Join(args, " "), err, lastLines(output.String()))
	}
	r := reading{clock: took, work: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	r.peak, r.written = usageOf(cmd.ProcessState)
	return r, nil
}

func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// timing returns a probe of one process.
func (b *workbench) timing(l load, executable string, args ...string) probe {
	return func(ctx context.Context) (reading, error) { return b.run(ctx, l, executable, args...) }
}

// floor returns a probe of the floor.
func (b *workbench) floor(l load, flags ...string) probe {
	args := append(flags, b.executable("pulumi-resource-simple"), b.executable("program"))
	return b.timing(l, b.executable("floor"), args...)
}

// sluice returns a probe of a command of the command line on a stack.
func (b *workbench) sluice(stack string, l load, args ...string) probe {
	return b.timing(l, b.executable("sluice"), append(args, "--non-interactive", "--stack", stack)...)
}

// stack makes a stack.
func (b *workbench) stack(ctx context.Context, name string, config ...string) error {
	if _, err := b.timing(load{}, b.executable("sluice"), "stack", "init", name, "--non-interactive")(ctx); err != nil {
		return err
	}
	for _, setting := range config {
		key, value, _ := strings.Cut(setting, "=")
		if _, err := b.sluice(name, load{}, "config", "set", key, value)(ctx); err != nil {
			return err
		}
	}
	return nil
}
