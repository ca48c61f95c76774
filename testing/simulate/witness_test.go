package simulate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// A reader must see the records that were durable before it began, and may see those made before it ended.
func TestReaderSeesWhatWasDurableAndNothingElse(t *testing.T) {
	thing := func(name, id string) *state.Resource {
		u := urn.New("dev", "p", "", "test:index:Thing", name)
		return &state.Resource{URN: u, Type: u.Type(), Custom: true, ID: id, Inputs: property.Map{}}
	}
	old, goal, made, same := thing("a", "a-1"), thing("b", ""), thing("b", "b-1"), thing("a", "a-1")
	same.Protect = true
	op := state.Pending{Type: state.Creating, Resource: goal}
	begin, end := &record{begin: &op, issued: 1}, &record{change: &state.Change{Begun: goal, Add: made}, issued: 3}
	elided := &record{change: &state.Change{Replace: []state.Replacement{{Old: old, New: same}}, Elide: true}, issued: 5, done: 6}
	j := &journal{base: &state.Snapshot{Resources: []*state.Resource{old}}, log: []*record{begin, end, elided}}
	before := &state.Snapshot{Resources: []*state.Resource{old}}
	during := &state.Snapshot{Resources: []*state.Resource{old}, Pending: []state.Pending{op}}
	after := &state.Snapshot{Resources: []*state.Resource{old, made}}
	all := &state.Snapshot{Resources: []*state.Resource{same, made}}
	fits := func() (fit []int) {
		for i, s := range []*state.Snapshot{nil, before, during, after, all} {
			if len(j.judge(s, j.durable())) == 0 {
				fit = append(fit, i)
			}
		}
		return fit
	}
	require.Equal(t, []int{1, 2, 3, 4}, fits(), "nothing is durable but the base")
	begin.done = 2
	require.Equal(t, []int{2, 3, 4}, fits())
	end.done = 4
	require.Equal(t, []int{3, 4}, fits(), "what is elided may come later")
	j.log = append(j.log, &record{begin: &state.Pending{Type: state.Reading, Resource: old}, issued: 7, done: 8})
	for _, s := range []*state.Snapshot{after, all} {
		s.Pending = slices.Concat(s.Pending, []state.Pending{*j.log[3].begin})
	}
	require.Equal(t, []int{4}, fits(), "and goes with the next record")
}
