package display

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

// chains returns the replacements of n chains. In a chain, each resource is the cause of the next one.
func chains(n int, kinds ...string) []stages.StepInfo {
	var out []stages.StepInfo
	for i := range n {
		for k, kind := range kinds {
			s := step(stages.OpReplace, fmt.Sprintf("%s-%d", kind, i), values{"of": property.Number(1)}, values{"of": property.Number(2)})
			s.Reason = stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"of"}}
			if k > 0 {
				s.Reason = stages.Reason{Kind: stages.ReasonDependency, Cause: thing(fmt.Sprintf("%s-%d", kinds[k-1], i)), Properties: []string{"of"}}
			}
			out = append(out, s)
		}
	}
	return out
}

func reported(o Options, steps []stages.StepInfo) string {
	var out bytes.Buffer
	o.Title, o.Out, o.IsPreview = "T", &out, true
	r := NewReport(o)
	for _, s := range steps {
		r.Observe(stages.StepStarted{Step: s, Planning: true})
		r.Observe(stages.StepDone{Step: s, Planning: true})
	}
	r.Close()
	return out.String()
}

func TestFollowersOfAGroupAreAGroup(t *testing.T) {
	require.Equal(t, `T
 +- pkg:mod:Thing a-* (20) replace because `+"`of` comes from b-* (pkg:mod/thing:Thing), which is replaced"+` [diff: ~of]
 +- pkg:mod:Thing b-* (20) replace because `+"`of` comes from c-* (pkg:mod/thing:Thing), which is replaced"+` [diff: ~of]
 +- pkg:mod:Thing c-* (20) replace because `+"`of`"+` changed [diff: ~of]
`, reported(Options{}, chains(20, "c", "b", "a")))
}

// The unknown values of a possible change name resources, too.
func TestPossibleFollowersOfAGroupAreAGroup(t *testing.T) {
	steps := chains(20, "b", "a")
	for i, s := range steps {
		if i%2 == 1 {
			steps[i].Reason.Possible = &stages.Possibility{
				Otherwise: stages.OpSame, Unknowns: []stages.Unknown{{Property: "of", Of: s.Reason.Cause, Output: "id", Op: stages.OpReplace}},
			}
		}
	}
	require.Contains(t, reported(Options{}, steps), "a-* (20) possibly replace because")
	require.Equal(t, thing("b-0"), steps[1].Reason.Possible.Unknowns[0].Of, "a step is immutable")
}

// A row of few resources is as it was: the names in it are those of resources.
func TestFollowersOfAGroupThatHaveRowsOfTheirOwnNameResources(t *testing.T) {
	steps := chains(20, "b", "a")
	few := append(chains(20, "b"), steps[1], steps[3])
	got := reported(Options{}, few)
	require.Contains(t, got, "b-* (20)")
	require.Contains(t, got, " a-0      replace because `of` comes from b-0 (")
	require.Contains(t, got, " a-1      replace because `of` comes from b-1 (")
}

// What a resource that is not in a group causes has another reason.
func TestReasonsThatNameSingleResourcesDiffer(t *testing.T) {
	got := reported(Options{}, chains(minGroup-1, "b", "a"))
	for i := range minGroup - 1 {
		require.Contains(t, got, fmt.Sprintf("comes from b-%d (", i))
	}
}

func TestFollowersOfAGroupAreAGroupInALog(t *testing.T) {
	var out bytes.Buffer
	steps := chains(20, "c", "b", "a")
	c := newClock()
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }, Forecast: NewForecast(steps)})
	for _, s := range steps {
		made := s
		made.Op = stages.OpCreateReplacement
		for _, s := range []stages.StepInfo{made, s} {
			l.Observe(stages.StepStarted{Step: s, At: c.now})
			l.Observe(stages.StepDone{Step: s, At: c.now})
		}
	}
	l.Close()
	require.Contains(t, out.String(), "a-* (20) replaced because `of` comes from b-* (")
	require.Contains(t, out.String(), "b-* (20) replaced because `of` comes from c-* (")
}
