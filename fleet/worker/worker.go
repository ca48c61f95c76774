package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/process"
)

// Worker carries out operations. It is safe for many goroutines.
type Worker struct {
	Root   string        // of the fleet
	Home   server.Home   // for checkouts and logs
	Sluice string        // the program
	Client client.Client // to ask for second interrupts; nil does not ask

	version string // of sluice
	name    string // of the machine
}

// New returns a worker for the fleet in root.
func New(ctx context.Context, root string, home server.Home, sluice string, c client.Client) (*Worker, error) {
	w := &Worker{Root: root, Home: home, Sluice: sluice, Client: c}
	w.name, _ = os.Hostname() // only for people
	out, err := exec.CommandContext(ctx, sluice, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w; build it, or name it with --sluice", sluice, err)
	}
	w.version = strings.TrimSpace(string(out))
	return w, nil
}

// FindSluice returns the program to run: the named one, or the one beside this executable, or the one on PATH.
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

// run runs sluice in the folder of a stack and returns its standard output.
func (w *Worker) run(ctx context.Context, s stack, args ...string) (string, error) {
	c := exec.Command(w.Sluice, slices.Concat([]string{"-C", s.directory, "--non-interactive", "--color", "never"}, args)...)
	c.Env = environment()
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	group, err := process.Start(c)
	if err != nil {
		return "", fmt.Errorf("start sluice: %w", err)
	}
	defer context.AfterFunc(ctx, group.Kill)()
	err = c.Wait()
	group.Release()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		ended.Stderr = said.Bytes()
	}
	return out.String(), err
}

// environment is that of child processes: without the key of what Temporal keeps.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == seal.Variable || name == seal.FileVariable || strings.HasPrefix(name, "SLUICE_FLEET_")
	})
}
