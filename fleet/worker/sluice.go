package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/platform/process"
)

// sluice runs the command line in the folders of stacks.
type sluice struct {
	path  string
	fleet *spec.Fleet // names the variables that are reserved for stacks
}

// FindSluice returns the path of sluice: the named one, or the one beside this executable, or the one on PATH.
func FindSluice(named string) (string, error) {
	if named != "" {
		return exec.LookPath(named)
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "sluice")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("sluice")
	if err != nil {
		return "", fmt.Errorf("sluice is not on PATH and not beside sluice-fleet: install it, or name it with --sluice")
	}
	return path, nil
}

// command returns a command of sluice in the folder of a stack.
func (s *sluice) command(at stack, args ...string) *exec.Cmd {
	c := exec.Command(s.path, slices.Concat([]string{"-C", at.directory, "--non-interactive", "--color", "never"}, args)...)
	c.Env = s.environment(at.Name)
	return c
}

// run runs sluice in the folder of a stack and returns its standard output.
func (s *sluice) run(ctx context.Context, at stack, args ...string) (string, error) {
	c := s.command(at, args...)
	out := &limited{most: mostOutput}
	err := s.runTo(ctx, c, out)
	return out.text(), err
}

// runTo runs a command of sluice with the standard output out. The error has its error output.
func (s *sluice) runTo(ctx context.Context, c *exec.Cmd, out io.Writer) error {
	said := &limited{most: mostSaid}
	c.Stdout, c.Stderr, c.WaitDelay = out, said, lingering
	group, err := process.Start(c)
	if err != nil {
		return fmt.Errorf("start sluice: %w", err)
	}
	defer context.AfterFunc(ctx, group.Kill)()
	err = c.Wait()
	group.Release()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has succeeded, and left a process that holds its output
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		ended.Stderr = []byte(said.text())
	}
	return err
}

// environment returns the environment of child processes for a stack: without the key for Temporal's data, and without variables
// reserved for other stacks.
func (s *sluice) environment(name string) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(variable, "SLUICE_FLEET_") || s.fleet.Withheld(name, variable) ||
			// package main has set it from the variable SLUICE_.
			strings.HasPrefix(variable, "PULUMI_") && s.fleet.Withheld(name, "SLUICE_"+strings.TrimPrefix(variable, "PULUMI_"))
	})
}

// recorded returns the recorded properties of a stack, by its name for sluice.
func (s *sluice) recorded(ctx context.Context, at stack, name string) (recorded, error) {
	reading, write := io.Pipe()
	var r recorded
	var misread error
	var wg conc.WaitGroup
	wg.Go(func() {
		r, misread = parse(reading)
		_, _ = io.Copy(io.Discard, reading) // the process ends only when its output has been read
	})
	err := s.runTo(ctx, s.command(at, "stack", "export", "--stack", name), write)
	_ = write.Close() // never fails
	wg.Wait()
	if statusOf(err) == statusNoStack {
		return recorded{missing: true}, nil
	}
	if err != nil {
		return recorded{}, readable(err)
	}
	return r, misread
}

// statusOf returns the exit status of a process, 0 if it has none.
func statusOf(err error) int {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	return 0
}

// readable returns the error of a process with its error output.
func readable(err error) error {
	var ended *exec.ExitError
	if errors.As(err, &ended) && len(ended.Stderr) > 0 {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(string(ended.Stderr)), "error: "))
	}
	return err
}
