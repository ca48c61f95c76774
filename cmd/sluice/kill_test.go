//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killed runs: SLUICE_KILL_ROUNDS says how many, 30 if it is not set.
func killRounds(t *testing.T) int {
	text := os.Getenv("SLUICE_KILL_ROUNDS")
	if text == "" {
		return 30
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// arena is a stack whose cloud is a directory of files.
type arena struct {
	*testing.T
	dir, sluice string
	env         []string
}

func newArena(t *testing.T) *arena {
	a := &arena{T: t, dir: t.TempDir()}
	tools := filepath.Join(a.dir, "tools")
	build(t, tools+"/pulumi-resource-simple", "../../providers/internal/pulumi-resource-simple")
	build(t, tools+"/program", "./testdata/goprogram")
	build(t, tools+"/sluice", ".")
	a.sluice = tools + "/sluice"
	a.env = append(os.Environ(),
		"PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "PULUMI_HOME="+a.dir+"/home", "PULUMI_BACKEND_URL=file://"+a.dir+"/backend",
		"PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_STACK=", "HOME="+a.dir)
	require.NoError(t, os.MkdirAll(a.dir+"/backend", 0o755))
	require.NoError(t, os.MkdirAll(a.dir+"/project", 0o755))
	text := fmt.Sprintf("name: demo\nruntime:\n  name: go\n  options:\n    binary: %q\n", tools+"/program")
	require.NoError(t, os.WriteFile(a.dir+"/project/Pulumi.yaml", []byte(text), 0o644))
	a.run(0, "stack", "init", "dev")
	a.run(0, "config", "set", "simple:directory", a.dir+"/cloud")
	a.run(0, "config", "set", "scenario", "many")
	return a
}

func (a *arena) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(a.sluice, append(args, "--non-interactive")...)
	out := &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir+"/project", a.env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, out
}

// run runs a command that must end with a status, and returns what it says.
func (a *arena) run(status int, args ...string) string {
	a.Helper()
	cmd, out := a.command(args...)
	_ = cmd.Run() // the status is looked at
	require.Equal(a, status, cmd.ProcessState.ExitCode(), "%v\n%s", args, out)
	return out.String()
}

// runAndKill kills an update, with all that it has started or alone, and returns whether it was still running.
func (a *arena) runAndKill(after time.Duration, all bool) bool {
	cmd, out := a.command("up", "--yes", "--skip-preview")
	require.NoError(a, cmd.Start())
	target := cmd.Process.Pid
	if all {
		target = -target
	}
	timer := time.AfterFunc(after, func() { _ = syscall.Kill(target, syscall.SIGKILL) })
	_ = cmd.Wait()
	if timer.Stop() {
		require.Zero(a, cmd.ProcessState.ExitCode(), "%s", out)
		return false
	}
	// What the engine had started ends with it; what a plugin was doing it may finish before it does.
	time.Sleep(300 * time.Millisecond)
	return cmd.ProcessState.ExitCode() != 0
}

type recordedState struct {
	things  map[string]string   // URN by ID
	pending map[string][]string // types by URN
	ids     map[string]string   // IDs of what is being deleted, by URN
}

// state is what the stack file says, read from the file: it is what Pulumi would read.
func (a *arena) state() recordedState {
	type resource struct{ URN, ID, Type string }
	var file struct {
		Checkpoint struct {
			Latest struct {
				Resources []resource
				Pending   []struct {
					Resource resource
					Type     string
				} `json:"pending_operations"`
			}
		}
	}
	text, err := os.ReadFile(a.dir + "/backend/.pulumi/stacks/demo/dev.json")
	require.NoError(a, err)
	require.NoError(a, json.Unmarshal(text, &file), "the stack file is whole at every moment")
	s := recordedState{map[string]string{}, map[string][]string{}, map[string]string{}}
	for _, r := range file.Checkpoint.Latest.Resources {
		if strings.HasPrefix(r.Type, "simple:") {
			s.things[r.ID] = r.URN
		}
	}
	for _, op := range file.Checkpoint.Latest.Pending {
		s.pending[op.Resource.URN] = append(s.pending[op.Resource.URN], op.Type)
	}
	return s
}

// cloud is what exists: URN by ID.
func (a *arena) cloud() map[string]string {
	found, err := filepath.Glob(a.dir + "/cloud/*.json")
	require.NoError(a, err)
	all := map[string]string{}
	for _, path := range found {
		text, err := os.ReadFile(path)
		require.NoError(a, err)
		var thing struct{ URN string }
		require.NoError(a, json.Unmarshal(text, &thing), "%s", text)
		require.NotEmpty(a, thing.URN, "%s", text)
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = thing.URN
	}
	return all
}

// However and whenever a run is killed: everything that exists in the cloud is recorded, or an operation is pending that says
// it may exist; and after `recover` the state and the cloud are equal.
func TestKilledRunsLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real programs, again and again")
	}
	a := newArena(t)
	random := rand.New(rand.NewPCG(4, 9))
	a.run(0, "config", "set", "simple:delayMs", "15")
	began := time.Now()
	a.run(0, "up", "--yes", "--skip-preview")
	usual := time.Since(began)
	cut := 0
	for round := range killRounds(t) {
		a.run(0, "config", "set", "count", strconv.Itoa(random.IntN(25)))
		after := time.Duration(random.Int64N(int64(usual + usual/2)))
		if a.runAndKill(after, random.IntN(2) == 0) {
			cut++
		}
		a.run(0, "stack", "export") // any command recovers
		recorded, exists := a.state(), a.cloud()
		where := fmt.Sprintf("round %d, killed after %v", round, after)
		adopt := []string{"recover", "--assume-not-created"}
		for id, u := range exists {
			if recorded.things[id] == u {
				continue
			}
			require.Contains(t, recorded.pending[u], "creating", "%s: nobody knows of %s", where, id)
			adopt = append(adopt, "--adopt", u+"="+id)
		}
		for id, u := range recorded.things {
			if exists[id] == "" {
				require.Contains(t, recorded.pending[u], "deleting", "%s: %s is recorded and does not exist", where, id)
			}
		}
		a.run(0, adopt...)
		recorded = a.state()
		require.Empty(t, recorded.pending, where)
		require.Equal(t, exists, recorded.things, where)
	}
	t.Logf("%d runs were killed in time", cut)
	require.Positive(t, cut)
	a.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(t, a.cloud())
}
