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

// killRounds returns the number of killed runs: SLUICE_KILL_ROUNDS, or 30 if it is not set.
func killRounds(t *testing.T) int {
	text := os.Getenv("SLUICE_KILL_ROUNDS")
	if text == "" {
		return 30
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// arena is a stack whose objects are files in a directory.
type arena struct {
	*testing.T
	dir, sluice string
	env         []string
}

// newArena returns an arena whose states are in a directory.
func newArena(t *testing.T) *arena { return newArenaIn(t, "") }

// newArenaIn returns an arena whose states are at a URL; "" is a directory of the arena.
func newArenaIn(t *testing.T, backend string) *arena {
	a := &arena{T: t, dir: t.TempDir()}
	tools := filepath.Join(a.dir, "tools")
	build(t, tools+"/pulumi-resource-simple", "../../providers/internal/pulumi-resource-simple")
	build(t, tools+"/program", "./testdata/goprogram")
	build(t, tools+"/sluice", ".")
	a.sluice = tools + "/sluice"
	if backend == "" {
		backend = "file://" + a.dir + "/backend"
	}
	a.env = append(os.Environ(),
		"PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "PULUMI_HOME="+a.dir+"/home", "PULUMI_BACKEND_URL="+backend,
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

// run runs a command, requires its exit status, and returns its output.
func (a *arena) run(status int, args ...string) string {
	a.Helper()
	cmd, out := a.command(args...)
	_ = cmd.Run() // the exit status is checked below
	require.Equal(a, status, cmd.ProcessState.ExitCode(), "%v\n%s", args, out)
	return out.String()
}

// victims are the processes that are killed.
type victims int

const (
	everybody   victims = iota // the engine and every process that it has started
	theEngine                  // the processes that it has started end by themselves
	theProvider                // the engine continues
	kinds
)

// runAndKill kills processes during an update, and reports whether the update was interrupted.
func (a *arena) runAndKill(after time.Duration, who victims) bool {
	cmd, out := a.command("up", "--yes", "--skip-preview")
	require.NoError(a, cmd.Start())
	timer := time.AfterFunc(after, func() {
		switch who {
		case everybody:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		case theEngine:
			_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		default:
			for _, pid := range running(a.dir + "/tools/pulumi-resource-simple") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	_ = cmd.Wait()
	if timer.Stop() {
		require.Zero(a, cmd.ProcessState.ExitCode(), "%s", out)
		return false
	}
	// The processes that the engine has started end with it. A plugin may first finish what it was doing.
	time.Sleep(300 * time.Millisecond)
	return cmd.ProcessState.ExitCode() != 0
}

// running lists the processes of a program. It finds none if the system has no /proc.
func running(program string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is valid
	var pids []int
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == program {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

type recordedState struct {
	things  map[string]string   // URN by ID
	pending map[string][]string // types by URN
}

// state returns the content of the stack file, read from the file itself, as Pulumi would read it.
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
	s := recordedState{map[string]string{}, map[string][]string{}}
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

// cloud returns the objects that exist: URN by ID.
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

// Whenever and however a run of hundreds of operations, or its provider, is killed: every object that exists is
// recorded, or a pending operation says that it may exist; after `recover` the state matches the objects; and no object
// exists twice.
func TestKilledRunsLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real programs, again and again")
	}
	a := newArena(t)
	random := rand.New(rand.NewPCG(4, 9))
	a.run(0, "config", "set", "simple:delayMs", "15")
	a.run(0, "config", "set", "count", "200")
	began := time.Now()
	a.run(0, "up", "--yes", "--skip-preview")
	usual := time.Since(began)
	cut := map[victims]int{}
	for round := range killRounds(t) {
		a.change(random)
		after, who := time.Duration(random.Int64N(int64(usual+usual/2))), victims(random.IntN(int(kinds)))
		if a.runAndKill(after, who) {
			cut[who]++
		}
		a.resolve(fmt.Sprintf("round %d, %d killed after %v", round, who, after))
	}
	t.Logf("runs that were interrupted, by who was killed: %v", cut)
	require.Positive(t, cut[everybody]+cut[theEngine])
	a.run(0, "up", "--yes", "--skip-preview")
	a.resolve("at the end")
	a.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(t, a.cloud())
}

// change makes the next update create, delete and update some of the resources, or nearly all of them.
func (a *arena) change(random *rand.Rand) {
	a.run(0, "config", "set-all",
		"--plaintext", "count="+strconv.Itoa(200+random.IntN(60)),
		"--plaintext", "first="+strconv.Itoa(random.IntN(250)),
		"--plaintext", "more="+strconv.Itoa(random.IntN(2)))
}

// resolve recovers the stack, answers for the creates with an uncertain outcome, and compares the state with the
// objects.
func (a *arena) resolve(where string) {
	a.run(0, "stack", "export") // any command recovers
	recorded, exists := a.state(), a.cloud()
	adopt := []string{"recover", "--assume-not-created"}
	for id, u := range exists {
		if recorded.things[id] == u {
			continue
		}
		require.Contains(a, recorded.pending[u], "creating", "%s: nobody knows of %s", where, id)
		adopt = append(adopt, "--adopt", u+"="+id)
	}
	for id, u := range recorded.things {
		if exists[id] == "" {
			require.Contains(a, recorded.pending[u], "deleting", "%s: %s is recorded and does not exist", where, id)
		}
	}
	a.run(0, adopt...)
	recorded = a.state()
	require.Empty(a, recorded.pending, where)
	require.Equal(a, exists, recorded.things, where)
	urns := map[string]string{}
	for id, u := range exists {
		require.Empty(a, urns[u], "%s: %s exists as %s, too", where, u, id)
		urns[u] = id
	}
}
