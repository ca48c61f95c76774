//go:build !windows

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A database that is away for a while, for a restart, costs an update that time and nothing else.
func TestAnUpdateOutlivesAnOutageOfItsDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs programs")
	}
	a := newArenaAt(t, buildTools(t), inDatabase(t))
	a.run(0, "config", "set", "scenario", "many")
	a.run(0, "config", "set", "count", "12")
	a.run(0, "config", "set", "simple:delayMs", "200")
	update, out := a.command("up", "--yes", "--skip-preview", "--parallel", "2")
	require.NoError(t, update.Start())
	require.Eventually(t, func() bool { return len(a.cloud()) > 2 }, time.Minute, 10*time.Millisecond, "%s", out)
	a.states.link.Refuse()
	time.Sleep(4 * time.Second)
	began := len(a.cloud())
	require.Less(t, began, 12, "nothing begins that cannot be recorded")
	a.states.link.Mend()
	require.NoError(t, update.Wait(), "%s", out)
	require.Len(t, a.cloud(), 12)
	require.Equal(t, a.cloud(), a.state().things)
	require.Empty(t, a.state().pending)
	a.run(0, "preview", "--expect-no-changes")

	a.states.link.Refuse()
	require.Contains(t, a.run(1, "preview"), "refused", "where nobody answers from the start, nobody waits")
}
