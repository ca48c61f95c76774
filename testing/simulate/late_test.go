package simulate

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// cutOffCreate is a history in which the create of a named resource is cut off and lands some operations later.
func cutOffCreate(how Mishaps, then ...Operation) Case {
	program := []Declaration{{Name: "r1", Values: map[string]string{autoName: "a"}}}
	return Case{
		Operations: append([]Operation{{Do: Update}, {Do: Update, Program: program, Mishaps: how}}, then...),
		Schedules:  []Schedule{{Seed: 1, Workers: 1, Milliseconds: 1000}, {Seed: 2, Workers: 64, Milliseconds: 1000}},
	}
}

// left is the result of a history: the IDs of the objects that exist, of those in the state, and the number of uncertain
// creates.
type left struct {
	objects, recorded []string
	doubts            int
}

func leftBy(t *testing.T, c Case) (out left) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &history{Case: c, world: newWorld(), ctx: t.Context(), Report: Report{Excused: map[string]int{}}}
		h.run()
		require.Empty(t, h.Faults)
		for _, id := range slices.Sorted(maps.Keys(h.world.exists())) {
			out.objects = append(out.objects, h.world.exists()[id].URN.Name())
		}
		for _, r := range h.world.resources() {
			if isManaged(r) {
				out.recorded = append(out.recorded, r.URN.Name())
			}
		}
		out.doubts = len(h.world.snapshot.Pending)
	})
	return out
}

// A create may take effect after the engine, or the plugin, has died. Until then its outcome is uncertain, and it is not
// repeated. Afterwards, a recovery finds the object.
func TestLateCreateIsInDoubtUntilARecoveryFindsIt(t *testing.T) {
	for name, cut := range map[string]func(Landing) Mishaps{
		"the engine dies": func(l Landing) Mishaps { return Mishaps{Crash: 3, Late: l} }, // the third record is the beginning of the create
		"the plugin dies": func(l Landing) Mishaps {
			return Mishaps{Failures: []Failure{{Method: "create", Name: "r1", Died: true, Late: l}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			recovery, again := Operation{Do: Recover}, cutOffCreate(Mishaps{}).Operations[1]
			inDoubt, found := left{[]string{"first"}, []string{"first"}, 1}, left{[]string{"first", "r1"}, []string{"first", "r1"}, 0}
			require.Equal(t, inDoubt, leftBy(t, cutOffCreate(cut(1))))
			require.Equal(t, found, leftBy(t, cutOffCreate(cut(1), recovery)))
			require.Equal(t, inDoubt, leftBy(t, cutOffCreate(cut(3), recovery, again)))
			require.Equal(t, found, leftBy(t, cutOffCreate(cut(3), recovery, again, recovery)))
			require.Equal(t, found, leftBy(t, cutOffCreate(cut(3), recovery, again, recovery, again)))
			require.Equal(t, inDoubt, leftBy(t, cutOffCreate(cut(-1), recovery, again, recovery)))
		})
	}
}
