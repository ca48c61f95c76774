package simulate

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Policies prevent creates and change inputs in generated histories, and the simulator detects both.
func TestPoliciesOfCases(t *testing.T) {
	things := []Declaration{
		{Name: "r1", Values: map[string]string{"value": "a"}}, {Name: "r2", Values: map[string]string{"other": "a"}}, {Name: "r3"},
	}
	of := func(ps ...Policy) *history {
		c := cutOffCreate(Mishaps{})
		c.Operations = []Operation{{Do: Update, Program: things, Policies: ps, AnalyzeLimit: 1}}
		var h *history
		synctest.Test(t, func(t *testing.T) {
			h = &history{Case: c, world: newWorld(), ctx: t.Context(), Report: Report{Excused: map[string]int{}}}
			h.run()
		})
		require.Empty(t, h.Faults)
		return h
	}
	names := func(h *history) (names []string) {
		for _, r := range h.world.resources() {
			if isManaged(r) {
				value := ""
				if v, ok := r.Inputs.Get("value"); ok {
					value = " " + v.AsString()
				}
				names = append(names, r.URN.Name()+value)
			}
		}
		return names
	}
	require.Equal(t, []string{"first", "r1 a"}, names(of(Policy{Do: Mandate, Property: "other"}, Policy{Do: Advise, Property: "value"})))
	require.Equal(t, []string{"first", "r1 remedied", "r2", "r3"},
		names(of(Policy{Do: Remedy, Property: "value", Name: "r1"}, Policy{Do: MandateOnStack, Property: "other"})))
}
