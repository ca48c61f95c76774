package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/watch"
)

// drawn returns the last drawing of a tree, on a terminal of that height.
func drawn(height int, now watch.State) []string {
	var out bytes.Buffer
	tree := &tree{out: &out, size: func() (int, int) { return 60, height }}
	tree.draw(now)
	return strings.Split(strings.TrimSpace(ansi.Strip(out.String())), "\n")
}

func TestTheTreeShowsStacksBelowTheirEntries(t *testing.T) {
	now := watch.State{Progress: map[string]run.Progress{"apps/web": {Done: 2, Running: 1, Last: "create db"}, "apps/api": {Waits: "for a worker"}}}
	add := func(name string, o run.Outcome) {
		now.Stacks = append(now.Stacks, run.StackView{Name: name, Outcome: o})
	}
	add("net", run.Outcome{Status: run.Succeeded, Changes: map[string]int{"create": 3}})
	add("apps/api", run.Outcome{Status: run.Running})
	add("apps/old", run.Outcome{Status: run.Failed, Why: "it is broken\nin two lines", Attempts: 2})
	add("apps/web", run.Outcome{Status: run.Running})
	add("db", run.Outcome{Status: run.Approving})
	add("dns", run.Outcome{Status: run.Waiting})
	all := drawn(40, now)
	require.Equal(t, []string{
		"✓ net succeeded: create 3",
		"  apps: 1 of 3",
		"●   api running: waits for a worker",
		"✗   old failed: it is broken; attempt 2",
		"●   web running: 2 done, 1 running: create db",
		"? db approval: `sluice fleet approve db`",
		"· dns waiting",
	}, all[:len(all)-1])
	require.Regexp(t, `^2 of 6 stacks, 2 running, 1 failed, `, all[len(all)-1])

	// If there is not room for all, stacks that run or wait for an approval come first.
	few := drawn(9, now)
	require.Equal(t, []string{
		"apps: 1 of 3", "●   api running: waits for a worker", "●   web running: 2 done, 1 running: create db", "? db approval: `sluice fleet approve db`", "  and 3 more",
	}, few[:len(few)-1])
}
