//go:build !windows

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/executable"
)

// arena is a stack whose objects are files in a directory. Its state is in a directory too, unless the arena was made for another place.
type arena struct {
	*testing.T
	dir    string
	env    []string
	states place
	// The executables.
	sluice, plugin, program string
}

func newArena(t *testing.T) *arena {
	a := newArenaWith(t, buildTools(t))
	a.run(0, "config", "set", "scenario", "many")
	return a
}

// buildTools builds the tools of arenas, and the program of the scenarios, into a folder.
func buildTools(t *testing.T) (tools string) {
	tools = filepath.Join(t.TempDir(), "tools")
	build(t, tools+"/program", "./testdata/goprogram")
	return buildEngine(t, tools)
}

// buildEngine links the tools that every arena needs into a folder, which it returns. The program of the arena belongs there too. The engine is
// the one of scripts (TestMain), because arenas start it hundreds of times.
func buildEngine(t *testing.T, tools string) string {
	build(t, tools+"/pulumi-resource-simple", "../../providers/internal/pulumi-resource-simple")
	linkSluice(t, tools+"/sluice")
	return tools
}

// linkSluice links path, which must be named sluice, to the command of scripts (TestMain).
func linkSluice(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, executable.Link(self, path)) // with a symbolic link, running would not find the processes
}

// newArenaWith returns an arena with the built tools.
func newArenaWith(t *testing.T, tools string) *arena { return newArenaAt(t, tools, inDirectory(t)) }

// newArenaAt returns an arena whose state is in a place.
func newArenaAt(t *testing.T, tools string, states place) *arena {
	a := &arena{T: t, dir: t.TempDir(), states: states}
	if a.states.service != nil {
		copies := filepath.Join(a.dir, "home", "sluice", "service", strings.ReplaceAll(strings.TrimPrefix(states.url, "http://"), ":", "_"), "alice")
		a.states.store, a.states.dir = store.NewDir(copies), copies
		require.NoError(t, os.MkdirAll(copies, 0o700))
	}
	a.sluice, a.plugin, a.program = tools+"/sluice", tools+"/pulumi-resource-simple", tools+"/program"
	a.env = append(os.Environ(),
		"PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "PULUMI_HOME="+a.dir+"/home", "PULUMI_BACKEND_URL="+states.url,
		"PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_STACK=", "HOME="+a.dir)
	require.NoError(t, os.MkdirAll(a.dir+"/project", 0o755))
	text := fmt.Sprintf("name: demo\nruntime:\n  name: go\n  options:\n    binary: %q\n", a.program)
	require.NoError(t, os.WriteFile(a.dir+"/project/Pulumi.yaml", []byte(text), 0o644))
	a.run(0, "stack", "init", "dev")
	a.run(0, "config", "set", "simple:directory", a.dir+"/cloud")
	return a
}

func (a *arena) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	a.Cleanup(stop)
	cmd := exec.CommandContext(ctx, a.sluice, append(args, "--non-interactive")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	out := &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir+"/project", a.env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, out
}

// run runs a command, requires its exit status, and returns its output.
func (a *arena) run(status int, args ...string) string {
	a.Helper()
	cmd, out := a.command(args...)
	_ = cmd.Run() // the exit status is checked below
	require.Equal(a, status, cmd.ProcessState.ExitCode(), "%v\n%s", args, out)
	return out.String()
}

// deployment is a recorded state in the form of files.
type deployment struct {
	Resources []recordedResource
	Pending   []struct {
		Resource recordedResource
		Type     string
	} `json:"pending_operations"`
}

type recordedResource struct {
	URN, ID, Type      string
	Delete             bool
	PendingReplacement bool
	Inputs, Outputs    map[string]any
}

// recordedState has the recorded objects of a state.
type recordedState struct {
	things  map[string]string         // URN by ID
	inputs  map[string]map[string]any // by ID
	live    map[string]string         // without old copies: ID by URN
	pending map[string][]string       // types by URN
}

// state returns the recorded state, read from the stack file itself, as Pulumi would read it, or from the service.
func (a *arena) state() recordedState { return a.recorded(a.states.state(a.T)) }

func (a *arena) recorded(d deployment) recordedState {
	s := recordedState{map[string]string{}, map[string]map[string]any{}, map[string]string{}, map[string][]string{}}
	for _, r := range d.Resources {
		if !strings.HasPrefix(r.Type, "simple:") || r.PendingReplacement { // the object of such a state is deleted
			continue
		}
		require.Empty(a, s.things[r.ID], "%s is recorded twice", r.ID)
		s.things[r.ID], s.inputs[r.ID] = r.URN, r.Inputs
		if !r.Delete {
			require.Empty(a, s.live[r.URN], "%s has two live states", r.URN)
			s.live[r.URN] = r.ID
		}
	}
	for _, op := range d.Pending {
		s.pending[op.Resource.URN] = append(s.pending[op.Resource.URN], op.Type)
	}
	return s
}

// thing is an object.
type thing struct {
	URN    string
	Inputs map[string]any
}

// things returns the objects that exist, by ID.
func (a *arena) things() map[string]thing {
	found, err := filepath.Glob(a.dir + "/cloud/*.json")
	require.NoError(a, err)
	all := map[string]thing{}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was deleted in the meantime
		}
		require.NoError(a, err)
		var t thing
		require.NoError(a, json.Unmarshal(text, &t), "%s", text)
		require.NotEmpty(a, t.URN, "%s", text)
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = t
	}
	return all
}

// cloud returns the objects that exist: URN by ID.
func (a *arena) cloud() map[string]string {
	all := map[string]string{}
	for id, t := range a.things() {
		all[id] = t.URN
	}
	return all
}
