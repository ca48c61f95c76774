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

	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/process"
)

// Worker carries out operations. It is safe for concurrent use.
type Worker struct {
	Fleet  *spec.Fleet   // from the file on this machine
	Home   server.Home   // for checkouts and logs
	Sluice string        // the program
	Client client.Client // for requests of second interrupts; may be nil

	version string // of sluice
	name    string // of the machine
	works   *works // nil for a worker that only looks
}

// New returns a worker for a fleet.
func New(ctx context.Context, fleet *spec.Fleet, home server.Home, sluice string, c client.Client) (*Worker, error) {
	w := &Worker{Fleet: fleet, Home: home, Sluice: sluice, Client: c, works: newWorks()}
	w.name, _ = os.Hostname() // only for people
	out, err := exec.CommandContext(ctx, sluice, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w; build it, or name it with --sluice", sluice, err)
	}
	w.version = strings.TrimSpace(string(out))
	return w, nil
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

// stack is a stack in a folder of this machine.
type stack struct {
	spec.Stack
	directory string
}

// command returns a command of sluice in the folder of a stack.
func (w *Worker) command(s stack, args ...string) *exec.Cmd {
	c := exec.Command(w.Sluice, slices.Concat([]string{"-C", s.directory, "--non-interactive", "--color", "never"}, args)...)
	c.Env = w.environment(s.Name)
	return c
}

// run runs sluice in the folder of a stack and returns its standard output.
func (w *Worker) run(ctx context.Context, s stack, args ...string) (string, error) {
	c := w.command(s, args...)
	out := &limited{most: mostOutput}
	err := w.runTo(ctx, c, out)
	return out.text(), err
}

// runTo runs a command of sluice with the standard output out. The error has its error output.
func (w *Worker) runTo(ctx context.Context, c *exec.Cmd, out io.Writer) error {
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
func (w *Worker) environment(name string) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(variable, "SLUICE_FLEET_") || w.Fleet.Withheld(name, variable) ||
			// package main has set it from the variable SLUICE_.
			strings.HasPrefix(variable, "PULUMI_") && w.Fleet.Withheld(name, "SLUICE_"+strings.TrimPrefix(variable, "PULUMI_"))
	})
}
