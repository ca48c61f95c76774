package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Only a read after a change of the same object under another name gets what no preview could predict.
func TestReadIsLateAfterAChangeUnderAnotherName(t *testing.T) {
	one, two := urn.New("dev", "p", "", "test:index:Thing", "one"), urn.New("dev", "p", "", "test:index:Thing", "two")
	change := &call{method: providers.MethodUpdate, urn: one, id: "a", begun: 2, end: 4}
	for name, c := range map[string]struct {
		readCall
		late bool
	}{
		"before the change":   {readCall{two, "a", 1}, false},
		"during the change":   {readCall{two, "a", 3}, true},
		"after the change":    {readCall{two, "a", 5}, true},
		"of another object":   {readCall{two, "b", 5}, false},
		"under the same name": {readCall{one, "a", 5}, false},
	} {
		a := &attempt{calls: []*call{change}, reads: []readCall{c.readCall}}
		require.Equal(t, c.late, a.readLate()[c.urn], name)
	}
}

// A delete must be over before its end is recorded. A copy of the same object that is only forgotten has no call of its own.
func TestEndIsNotRecordedDuringTheCall(t *testing.T) {
	u := urn.New("dev", "p", "", "test:index:Thing", "one")
	deleting := func() state.Pending {
		return state.Pending{Type: state.Deleting, Resource: &state.Resource{URN: u, ID: "a"}}
	}
	for name, c := range map[string]struct {
		others []state.Pending
		end    int
		faults int
	}{
		"while it runs":      {nil, 0, 1},
		"after it":           {nil, 4, 0},
		"of the other copy":  {[]state.Pending{deleting()}, 0, 0},
		"of another object":  {[]state.Pending{{Type: state.Deleting, Resource: &state.Resource{URN: u, ID: "b"}}}, 0, 1},
		"of another kind":    {[]state.Pending{{Type: state.Updating, Resource: &state.Resource{URN: u, ID: "a"}}}, 0, 1},
		"of both, one after": {[]state.Pending{deleting()}, 4, 0},
	} {
		a := &attempt{calls: []*call{{method: providers.MethodDelete, urn: u, id: "a", begun: 2, end: c.end}}}
		a.journal = newJournal(a, nil, 0)
		for _, op := range c.others {
			a.journal.open[op.Resource] = op
		}
		a.mustBeOver(deleting())
		require.Len(t, a.faults, c.faults, name)
	}
}
