package simulate

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Stages in slots change goals and refuse registrations in made-up histories, and the simulator sees both.
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
