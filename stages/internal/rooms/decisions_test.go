package rooms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Which root's registration arrives first is a matter of timing.
func TestTheFirstRootOfTheProgramIsTheReasonOfADelete(t *testing.T) {
	named := func(name string) urn.URN { return urn.New("dev", "p", "", "x:index:T", name) }
	certain := func(p stages.Precedence) rooms.ClosureDelete {
		return rooms.ClosureDelete{Root: p, Why: stages.Reason{Kind: stages.ReasonDependency, Cause: p.URN}}
	}
	possible := func(p stages.Precedence) rooms.ClosureDelete {
		d := certain(p)
		d.Why.Possible = &stages.Possibility{Otherwise: stages.OpSame}
		return d
	}
	a, b := stages.Precedence{URN: named("a")}, stages.Precedence{URN: named("b")}
	for name, c := range map[string]struct{ first, second rooms.ClosureDelete }{
		"by name":                         {certain(a), certain(b)},
		"by place before name":            {certain(stages.Precedence{Ordinal: 1, URN: named("b")}), certain(stages.Precedence{Ordinal: 2, URN: named("a")})},
		"by line before name":             {certain(stages.Precedence{Position: "project:///a.ts#9,1", URN: named("b")}), certain(stages.Precedence{Position: "project:///a.ts#10,1", URN: named("a")})},
		"a certain one before a possible": {certain(b), possible(a)},
		"both are possible":               {possible(a), possible(b)},
	} {
		for _, order := range [][]rooms.ClosureDelete{{c.first, c.second}, {c.second, c.first}} {
			t.Run(name, func(t *testing.T) {
				res := &state.Resource{URN: named("c"), Type: "x:index:T", Custom: true, ID: "1"}
				r, w := rooms.NewRooms(stages.Settings{Info: stages.RunInfo{Stack: "dev", Project: "p"}})
				w.Base.Open(rooms.Recorded{Snapshot: &state.Snapshot{Resources: []*state.Resource{res}}})
				id := graph.ID(0)
				for _, d := range order {
					w.Decisions.DeleteByClosure(id, d)
				}
				why, deleted := r.Decisions.ReasonOf(res)
				require.True(t, deleted)
				require.Equal(t, c.first.Why, why)
				require.Equal(t, c.first.Root.URN, r.Decisions.ClosureOf(id))
				require.Equal(t, c.first.Why.Possible != nil, r.Decisions.Has(res.URN, rooms.PossiblyReplaced))
			})
		}
	}
}
