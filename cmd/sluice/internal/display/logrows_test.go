package display

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// city is a plan with all kinds of order: twelve equal resources, one that uses them, a replacement with a dependent, a component that
// registers outputs and one that does not, and removals that depend on each other.
func city() []stages.StepInfo {
	made := func(name string, uses ...string) stages.StepInfo {
		s := step(stages.OpCreate, name, nil, values{})
		for _, u := range uses {
			s.New.Dependencies = append(s.New.Dependencies, thing(u))
		}
		return s
	}
	old, new := values{"region": property.String("eu")}, values{"region": property.String("us")}
	replace := step(stages.OpReplace, "moved", old, new)
	replace.Reason = stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"region"}}
	make, drop := step(stages.OpCreateReplacement, "moved", old, new), step(stages.OpDeleteReplaced, "moved", old, nil)
	user := step(stages.OpUpdate, "a-user", values{"x": property.Number(1)}, values{"x": property.Number(2)})
	user.New.Dependencies = []urn.URN{thing("moved")}
	group := made("a-group")
	group.New.Custom = false
	silent := made("silent")
	silent.New.Custom = false
	inner, outer := step(stages.OpDelete, "a-inner", values{}, nil), step(stages.OpDelete, "outer", values{}, nil)
	outer.Old.Dependencies = []urn.URN{inner.URN}
	steps := []stages.StepInfo{group, silent}
	for i := range 12 {
		steps = append(steps, made(fmt.Sprintf("r%d", i)))
	}
	return append(steps, made("a-last", "r0", "r11"), make, replace, user, step(stages.OpSame, "quiet", old, old), outer, inner, drop)
}

// performed returns the log of an operation with these steps. Each comes after the steps that it depends on, otherwise in random order.
func performed(t *testing.T, steps []stages.StepInfo, f *Forecast, random *rand.Rand) string {
	t.Helper()
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }, Forecast: f})
	random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, s := range steps {
		l.Observe(stages.StepStarted{Step: s, At: c.now})
	}
	for _, s := range steps {
		switch r := firstOf(s.New, s.Old); {
		case s.Op == stages.OpSame:
			l.Observe(stages.StepDone{Step: s, At: c.now})
		case r.Custom:
			l.Observe(stages.StepDone{Step: s, At: c.now})
		case s.URN.Name() != "silent":
			l.Observe(stages.StepDone{Step: s, Outputs: true, At: c.now})
		}
		if random.IntN(3) == 0 {
			l.Tick()
		}
	}
	l.Close()
	return out.String()
}

func firstOf(a, b *state.Resource) *state.Resource {
	if a != nil {
		return a
	}
	return b
}

func TestALogWithAForecastDoesNotDependOnTiming(t *testing.T) {
	f := NewForecast(city())
	const want = `T
 +  pkg:mod:Thing r* (12) created
 +- pkg:mod:Thing moved   replaced because ` + "`region`" + ` changed [diff: ~region]
 +  pkg:mod:Thing a-last  created
 ~  pkg:mod:Thing a-user  updated [diff: ~x]
 -  pkg:mod:Thing outer   deleted
 -  pkg:mod:Thing a-inner deleted
 +  pkg:mod:Thing a-group created
 +  pkg:mod:Thing silent  created
`
	for seed := range uint64(40) {
		got := performed(t, city(), f, rand.New(rand.NewPCG(seed, 1)))
		require.Equal(t, want, got, "seed %d", seed)
	}
}

func TestARowIsWrittenAsSoonAsEverythingBeforeItIsOver(t *testing.T) {
	first, second := step(stages.OpCreate, "z", nil, values{}), step(stages.OpCreate, "a", nil, values{})
	second.New.Dependencies = []urn.URN{first.URN}
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }, Forecast: NewForecast([]stages.StepInfo{first, second})})
	for _, s := range []stages.StepInfo{first, second} {
		l.Observe(stages.StepStarted{Step: s, At: c.now})
		l.Observe(stages.StepDone{Step: s, At: c.now})
		require.Contains(t, out.String(), " +  pkg:mod:Thing "+s.URN.Name()+" created\n")
	}
	failing := step(stages.OpCreate, "bad", nil, values{})
	l.Observe(stages.StepFailed{Step: failing, Err: errors.New("no"), At: c.now})
	require.Contains(t, out.String(), "bad **creating failed** error: no\n", "a failure does not wait")
}

func TestWithoutAForecastRowsOfASecondAreWrittenTogether(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }})
	for _, name := range []string{"b", "a"} {
		l.Observe(stages.StepDone{Step: step(stages.OpCreate, name, nil, values{}), At: c.now})
	}
	l.Tick()
	require.Equal(t, "T\n", out.String())
	c.after(page)
	l.Tick()
	require.Equal(t, "T\n +  pkg:mod:Thing a created\n +  pkg:mod:Thing b created\n", out.String())
}

func TestRowsOfALogWithoutAForecastAreAsWideAsThoseBeforeThem(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }})
	long := step(stages.OpCreate, "a-long-name", nil, values{})
	l.Observe(stages.StepStarted{Step: long, At: c.now})
	for _, s := range []stages.StepInfo{step(stages.OpCreate, "a", nil, values{}), long, step(stages.OpCreate, "b", nil, values{})} {
		l.Observe(stages.StepDone{Step: s, At: c.now})
		c.after(page)
		l.Tick()
	}
	require.Equal(t, "T\n +  pkg:mod:Thing a           created\n +  pkg:mod:Thing a-long-name created (1s)\n +  pkg:mod:Thing b           created\n", out.String())
}

func TestWhatIsLeftOfAReplacementThatFailsIsTold(t *testing.T) {
	old, new := values{"region": property.String("eu")}, values{"region": property.String("us")}
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }})
	l.Observe(stages.StepDone{Step: step(stages.OpDeleteReplaced, "a", old, nil), At: c.now})
	l.Observe(stages.StepDone{Step: step(stages.OpReplace, "a", old, new), At: c.now})
	l.Observe(stages.StepFailed{Step: step(stages.OpCreateReplacement, "a", old, new), Err: errors.New("no"), At: c.now})
	l.Close()
	require.Equal(t, "T\n ++ pkg:mod:Thing a **creating replacement failed** error: no\n -- pkg:mod:Thing a deleted original\n", out.String())
}

func TestStepsOfReplacementsAreWrittenWhenTheyEnd(t *testing.T) {
	old, new := values{"region": property.String("eu")}, values{"region": property.String("us")}
	steps := []stages.StepInfo{step(stages.OpDeleteReplaced, "a", old, nil), step(stages.OpReplace, "a", old, new), step(stages.OpCreateReplacement, "a", old, new)}
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{
		Title: "T", Out: &out, Now: func() time.Time { return c.now }, Forecast: NewForecast(steps), Lines: Lines{ShowReplacementSteps: true},
	})
	for _, s := range steps {
		l.Observe(stages.StepDone{Step: s, At: c.now})
	}
	require.Equal(t, "T\n -- pkg:mod:Thing a deleted original\n +- pkg:mod:Thing a replaced [diff: ~region]\n ++ pkg:mod:Thing a created replacement\n", out.String())
}

func TestAResourceThatHasDriftedHasOneRow(t *testing.T) {
	vanished, drifted := stages.Reason{Kind: stages.ReasonVanished}, stages.Reason{Kind: stages.ReasonDrift}
	find := func(reason stages.Reason) stages.Event {
		s := step(stages.OpRefresh, "a", values{}, values{})
		s.Reason = reason
		return stages.StepDone{Step: s}
	}
	create, same := step(stages.OpCreate, "a", nil, values{}), step(stages.OpSame, "a", values{}, values{})
	create.Reason = vanished
	const refreshing = " ~  pkg:mod:Thing a refreshed because its provider does not find it any more\n"
	for name, c := range map[string]struct {
		events  []stages.Event
		refresh bool
		want    string
	}{
		"it is made again": {
			[]stages.Event{find(vanished), stages.StepDone{Step: create}}, false, " +  pkg:mod:Thing a created because its provider does not find it any more\n",
		},
		"it fails to be made again": {
			[]stages.Event{find(vanished), stages.StepFailed{Step: create, Err: errors.New("no")}}, false, " +  pkg:mod:Thing a **creating failed** error: no\n",
		},
		"nothing else happens to it": {[]stages.Event{find(vanished)}, false, refreshing},
		"it stays as it is":          {[]stages.Event{find(drifted), stages.StepDone{Step: same}}, false, " ~  pkg:mod:Thing a refreshed because it changed outside\n"},
		"a refresh finds it":         {[]stages.Event{find(vanished)}, true, refreshing},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []*Forecast{nil, NewForecast([]stages.StepInfo{create})} {
				var out bytes.Buffer
				l := NewLog(Options{Title: "T", Out: &out, Forecast: f, IsRefresh: c.refresh})
				for _, e := range c.events {
					l.Observe(e)
				}
				l.Close()
				require.Equal(t, "T\n"+c.want, out.String())
			}
		})
	}
}
