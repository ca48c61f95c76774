package simulate

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Stages in slots change goals and refuse registrations in generated histories, and the simulator detects both.
func TestStagesOfCases(t *testing.T) {
	for _, in := range []SlotName{Located, Checked, Analyzed, Diffed, Built} {
		t.Run(string(in), func(t *testing.T) {
			c := cutOffCreate(Mishaps{})
			c.Operations[1].Stages = []Stage{{In: Registered, Do: Change}, {In: in, Do: Delay, Workers: 3}, {In: in, Do: Refuse, Name: "r1"}}
			synctest.Test(t, func(t *testing.T) {
				h := &history{Case: c, world: newWorld(), ctx: t.Context(), Report: Report{Excused: map[string]int{}}}
				h.run()
				require.Empty(t, h.Faults)
				exists := h.world.exists()
				require.Len(t, exists, 1, "r1 is refused")
				for _, first := range exists {
					require.True(t, has(first.Inputs, stagedName))
				}
			})
		})
	}
}

// A refused delete does not happen, whatever delays there are around the standard stages.
func TestStagesOfDeletesInCases(t *testing.T) {
	for _, do := range []StageKind{Delay, Refuse} {
		c := Case{
			Operations: []Operation{{Do: Update, Program: []Declaration{{Name: "r1"}, {Name: "r2"}}}, {Do: Destroy}},
			Schedules:  []Schedule{{Seed: 1, Workers: 4, Milliseconds: 10}},
		}
		c.Operations[1].Stages = []Stage{{In: Standard, Do: Delay}, {In: Deleting, Do: do, Name: "r1", Workers: 2}, {In: Deleted, Do: Delay}}
		synctest.Test(t, func(t *testing.T) {
			h := &history{Case: c, world: newWorld(), ctx: t.Context(), Report: Report{Excused: map[string]int{}}}
			h.run()
			require.Empty(t, h.Faults)
			require.Equal(t, do == Refuse, len(h.world.exists()) > 0)
		})
	}
}
