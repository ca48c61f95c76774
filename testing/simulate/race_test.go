package simulate

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Engines that begin at once take turns, and each one begins with the records of the one before, even if that has died.
func TestEnginesTakeTurns(t *testing.T) {
	for name, server := range map[string]bool{"the store knows who is alive": true, "a person removes the locks of the dead": false} {
		t.Run(name, func(t *testing.T) {
			c := cutOffCreate(Mishaps{})
			c.Operations[0].Race = &Race{Server: server, Engines: []Engine{{Crash: 2}, {After: 1}, {After: 1}, {After: 1}}}
			c.Operations[0].Program = []Declaration{{Name: "r2", Values: map[string]string{autoName: "a"}}}
			synctest.Test(t, func(t *testing.T) {
				h := &history{Case: c, world: newWorld(), ctx: t.Context(), Report: Report{Excused: map[string]int{}}}
				h.run()
				require.Empty(t, h.Faults)
				require.Len(t, h.world.resources(), 3, "the provider, first and r1")
				plain := play(t.Context(), Case{Operations: []Operation{{Do: Update, Program: c.Operations[0].Program}, c.Operations[1]}, Schedules: c.Schedules})
				require.Equal(t, plain.Attempts-1+4, h.Attempts, "four more, and not the destroy at the end")
			})
		})
	}
}
