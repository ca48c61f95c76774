//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/tier"
)

// newBareArena returns an arena without plugins and programs. Its stack dev has imported resources.
func newBareArena(t *testing.T, resources int) *arena {
	a := &arena{T: t, dir: t.TempDir()}
	a.sluice = a.dir + "/sluice"
	linkSluice(t, a.sluice)
	a.env = append(os.Environ(), "PULUMI_HOME="+a.dir+"/home", "PULUMI_BACKEND_URL=file://"+a.dir+"/backend",
		"PULUMI_CONFIG_PASSPHRASE=p", "PULUMI_STACK=", "HOME="+a.dir)
	require.NoError(t, os.MkdirAll(a.dir+"/backend", 0o755))
	require.NoError(t, os.MkdirAll(a.dir+"/project", 0o755))
	require.NoError(t, os.WriteFile(a.dir+"/project/Pulumi.yaml", []byte("name: demo\nruntime: go\n"), 0o644))
	a.run(0, "stack", "init", "dev")
	var all []string
	for i := range resources {
		all = append(all, fmt.Sprintf(`{"urn":"urn:pulumi:dev::demo::a:b:C::thing-%d","custom":true,"id":"id-%d","type":"a:b:C"}`, i, i))
	}
	text := `{"version":3,"deployment":{"manifest":{"time":"2026-01-01T00:00:00Z","magic":"","version":""},"resources":[` + strings.Join(all, ",") + `]}}`
	require.NoError(t, os.WriteFile(a.dir+"/export.json", []byte(text), 0o644))
	a.run(0, "stack", "import", "--file", a.dir+"/export.json")
	return a
}

// runUntilIntent runs a command, and kills it some time after it has written its intent for two stacks. It reports
// whether it killed the command in time.
func (a *arena) runUntilIntent(after time.Duration, args ...string) bool {
	cmd, out := a.command(args...)
	require.NoError(a, cmd.Start())
	var ended atomic.Bool
	var watcher conc.WaitGroup
	killed := false
	watcher.Go(func() {
		for !killed && !ended.Load() {
			if len(a.intents()) > 0 {
				time.Sleep(after)
				killed = true
				_ = cmd.Process.Kill() // the process may have ended
			}
		}
	})
	err := cmd.Wait()
	ended.Store(true)
	watcher.Wait()
	if !killed {
		require.NoError(a, err, "%v\n%s", args, out)
	}
	return killed && len(a.intents()) > 0
}

func (a *arena) intents() []string { return a.glob("backend/.pulumi/sluice/pairs/*/*/*/*.json") }

func (a *arena) locks() []string { return a.glob("backend/.pulumi/locks/organization/demo/*/*") }

func (a *arena) glob(pattern string) []string {
	found, err := filepath.Glob(filepath.Join(a.dir, pattern))
	require.NoError(a, err)
	return found
}

// stacks returns the IDs that each stack records, by the name of the stack.
func (a *arena) stacks() map[string][]string {
	all := map[string][]string{}
	for _, path := range a.glob("backend/.pulumi/stacks/demo/*.json") {
		var file struct {
			Checkpoint struct {
				Latest struct{ Resources []struct{ ID, URN string } }
			}
		}
		text, err := os.ReadFile(path)
		require.NoError(a, err)
		require.NoError(a, json.Unmarshal(text, &file), "the stack file is whole at every moment")
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		all[name] = []string{}
		for _, r := range file.Checkpoint.Latest.Resources {
			require.Contains(a, r.URN, "urn:pulumi:"+name+"::demo::")
			if r.ID != "" {
				all[name] = append(all[name], r.ID)
			}
		}
	}
	return all
}

// requireOnce checks that each resource is recorded exactly once in all stacks, and that no intent is left.
func (a *arena) requireOnce(resources int, where string) {
	a.Helper()
	seen := map[string]string{}
	for stack, ids := range a.stacks() {
		for _, id := range ids {
			require.Empty(a, seen[id], "%s: %s is in %s and in %s", where, id, seen[id], stack)
			seen[id] = stack
		}
	}
	require.Len(a, seen, resources, where)
	require.Empty(a, a.intents(), where)
}

// another reports whether there is another round. On a fast machine all commands may have ended before they were
// killed.
func another(round, rounds, cut int) bool { return round < rounds || cut == 0 && round < 20*rounds }

// window returns the time within which a run is killed. It decreases in later rounds.
func window(round, rounds int, first time.Duration) time.Duration {
	return first/time.Duration(1+max(0, round-rounds)) + 1
}

// However a rename of a stack or a move between two stacks is killed, the next command on one of them completes it,
// with a message.
func TestKilledRenamesAndMovesAreCompleted(t *testing.T) {
	tier.Slow(t, "kills")
	t.Parallel()
	const resources = 2000
	rounds := max(3, killRounds(t)/6)
	random := rand.New(rand.NewPCG(9, 2))
	t.Run("rename", func(t *testing.T) {
		a := newBareArena(t, resources)
		from, to, cut := "dev", "live", 0
		for round := 0; another(round, rounds, cut); round++ {
			after := time.Duration(random.Int64N(int64(window(round, rounds, 20*time.Millisecond))))
			where := fmt.Sprintf("killed after %v", after)
			if a.runUntilIntent(after, "stack", "rename", to, "--stack", from) {
				cut++
				opened, status := to, 0
				if cut%2 == 0 {
					opened, status = from, 6 // the stack no longer has that name
				}
				said := a.run(status, "stack", "export", "--stack", opened)
				require.Contains(t, said, fmt.Sprintf("warning: the rename of stack %s to %s, begun at ", from, to), where)
				require.Contains(t, said, "was interrupted; it has been completed\n", where)
				require.Empty(t, a.locks(), where)
			}
			a.requireOnce(resources, where)
			require.Len(t, a.stacks(), 1)
			require.Len(t, a.stacks()[to], resources, where)
			require.Equal(t, []string{a.dir + "/project/Pulumi." + to + ".yaml"}, a.glob("project/Pulumi.*.yaml"), where)
			require.Equal(t, to, strings.TrimSpace(a.run(0, "stack", "--show-name")), "%s: it is selected", where)
			from, to = to, from
		}
		require.Positive(t, cut)
	})
	t.Run("move", func(t *testing.T) {
		a := newBareArena(t, resources)
		a.run(0, "stack", "init", "live", "--no-select")
		from, to, cut := "dev", "live", 0
		for round := 0; another(round, rounds, cut); round++ {
			after := time.Duration(random.Int64N(int64(window(round, rounds, 10*time.Millisecond))))
			where := fmt.Sprintf("killed after %v", after)
			args := []string{"state", "move", "--yes", "--source", from, "--dest", to}
			for i := range 500 {
				args = append(args, fmt.Sprintf("urn:pulumi:%s::demo::a:b:C::thing-%d", from, i))
			}
			if a.runUntilIntent(after, args...) {
				cut++
				said := a.run(0, "stack", "export", "--stack", []string{from, to}[cut%2])
				require.Contains(t, said, fmt.Sprintf("warning: the move of resources from stack %s to stack %s, begun at ", from, to), where)
				require.Empty(t, a.locks(), where)
			}
			a.requireOnce(resources, where)
			require.Contains(t, a.stacks()[to], "id-0", where)
			require.Contains(t, a.stacks()["dev"], "id-600", where)
			from, to = to, from
		}
		require.Positive(t, cut)
	})
}
