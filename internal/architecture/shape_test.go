package architecture

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/architecture/shape"
)

// tolerated lists what is above its limit and how large it is. A number may only go down. What is within its limit must
// not be listed any more.
var tolerated = map[string]map[string]int{
	shape.Fields: {
		"stages.RegisterRequest": 34, // the options of a program for a resource (protocol.md)
		"state.Resource":         36, // the fields of the state file for a resource (state.md)
	},
	shape.Bools: {
		"state.Resource": 8,
	},
}

// What is too large can be seen with
//
//	go run ./internal/architecture/cmd/shape
func TestNothingGrowsAboveItsLimit(t *testing.T) {
	packages, err := shape.Load(root, "./...")
	require.NoError(t, err)
	require.Greater(t, len(packages), 20)
	above := make(map[string]map[string]bool)
	for _, s := range shape.Sizes(packages) {
		if !s.Above() {
			continue
		}
		if above[s.What] == nil {
			above[s.What] = make(map[string]bool)
		}
		above[s.What][s.Where] = true
		switch was := tolerated[s.What][s.Where]; {
		case was == 0:
			t.Errorf("%s: %d %s, the limit is %d", s.Where, s.Size, s.What, s.Limit)
		case s.Size > was:
			t.Errorf("%s: %d %s, there were %d and the limit is %d", s.Where, s.Size, s.What, was, s.Limit)
		case s.Size < was:
			t.Errorf("%s: %d %s, there were %d: write the smaller number into the table of what is tolerated", s.Where, s.Size, s.What, was)
		}
	}
	for what, list := range tolerated {
		for where := range list {
			if !above[what][where] {
				t.Errorf("%s: its %s are within the limit: take it out of the table of what is tolerated", where, what)
			}
		}
	}
}
