package estimate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const second = time.Second

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestASchedule(t *testing.T) {
	some := func(n int, takes time.Duration) []job {
		out := make([]job, n)
		for i := range out {
			out[i].takes = takes
		}
		return out
	}
	for about, c := range map[string]struct {
		jobs    []job
		workers int
		want    time.Duration
	}{
		"nothing":                            {nil, 4, 0},
		"as many as there are workers":       {some(4, second), 4, second},
		"one more":                           {some(5, second), 4, 2 * second},
		"a hundred at ten":                   {some(100, second), 10, 10 * second},
		"a chain":                            {[]job{{takes: second}, {takes: second, needs: []int{0}}, {takes: second, needs: []int{1}}}, 9, 3 * second},
		"what takes long goes on alone":      {append(some(9, second), job{takes: 60 * second}), 10, 60 * second},
		"what others need, then all at once": {append([]job{{takes: 60 * second}}, job{takes: second, needs: []int{0}}, job{takes: second, needs: []int{0}}), 8, 61 * second},
		"phases":                             {[]job{{takes: second, phase: 2}, {takes: 2 * second, phase: 1}}, 8, 3 * second},
		"what runs has its worker":           {[]job{{takes: 5 * second}, {takes: 7 * second, runs: true}}, 1, 12 * second},
		"what needs itself does not count":   {[]job{{takes: second, needs: []int{0}}, {takes: second}}, 1, second},
	} {
		t.Run(about, func(t *testing.T) {
			history := schedule(c.jobs, c.workers)
			require.Equal(t, c.want, history[len(history)-1].at)
		})
	}
}

func TestWhenAScheduleHasDoneSoMuch(t *testing.T) {
	history := schedule([]job{{takes: 10 * second}, {takes: 10 * second}, {takes: 10 * second}}, 2)
	for work, at := range map[time.Duration]time.Duration{0: 0, 10 * second: 5 * second, 20 * second: 10 * second, 25 * second: 15 * second, 99 * second: 20 * second} {
		require.Equal(t, at, reached(history, work))
	}
}

// run is a fake operation, second by second.
type run struct {
	*Work
	now time.Time
}

func step(op stages.Op, name string, after ...string) stages.StepInfo {
	r := &state.Resource{URN: nameOf(name), Custom: true}
	for _, a := range after {
		r.Dependencies = append(r.Dependencies, nameOf(a))
	}
	s := stages.StepInfo{Op: op, URN: r.URN, New: r}
	if stages.Removes(op) {
		s.Old, s.New = r, nil
	}
	return s
}

func nameOf(name string) urn.URN {
	return urn.New("dev", "shop", "", urn.Type("a:b:"+strings.TrimRight(name, "0123456789")), name)
}

func steps(op stages.Op, name string, n int, after ...string) []stages.StepInfo {
	var out []stages.StepInfo
	for i := range n {
		out = append(out, step(op, fmt.Sprintf("%s%d", name, i), after...))
	}
	return out
}

// known returns the durations learned from these steps.
func known(of map[time.Duration][]stages.StepInfo) *Durations {
	d := newDurations()
	for took, list := range of {
		for _, s := range list {
			d.add(s.Op, s.URN, took)
		}
	}
	return d
}

func start(d *Durations, plan []stages.StepInfo, workers int) *run {
	return &run{New(d, plan, workers), noon}
}

func (r *run) begin(list ...stages.StepInfo) {
	for _, s := range list {
		r.Observe(stages.StepStarted{Step: s, At: r.now})
	}
}

func (r *run) end(list ...stages.StepInfo) {
	for _, s := range list {
		r.Observe(stages.StepDone{Step: s, At: r.now})
	}
}

// after lets time pass, and returns the estimate.
func (r *run) after(d time.Duration) string {
	r.now = r.now.Add(d)
	return r.Left(r.now)
}

func TestWhatTakesLongestDecides(t *testing.T) {
	plan := append(steps(stages.OpCreate, "bucket", 39), step(stages.OpCreate, "db"))
	r := start(known(map[time.Duration][]stages.StepInfo{second: plan[:39], 10 * time.Minute: plan[39:]}), plan, 100)
	r.begin(plan...)
	require.Empty(t, r.after(second))
	r.end(plan[:39]...)
	require.Equal(t, "about 10 min left", r.after(2*second))
	require.Equal(t, "about 5 min left", r.after(5*time.Minute))
}

func TestWhatWaitsForOthersCounts(t *testing.T) {
	plan := append(steps(stages.OpCreate, "web", 30, "db"), step(stages.OpCreate, "db"))
	r := start(known(map[time.Duration][]stages.StepInfo{60 * second: plan}), plan, 100)
	r.begin(plan[30])
	require.Equal(t, "about 110 s left", r.after(10*second))
}

func TestOnlySoManyRunAtOnce(t *testing.T) {
	plan := steps(stages.OpCreate, "r", 100)
	r := start(known(map[time.Duration][]stages.StepInfo{10 * second: plan}), plan, 10)
	r.begin(plan[:10]...)
	require.Equal(t, "about 100 s left", r.after(5*second))
}

// The program may determine the duration: here it declares one resource a second, though eight could be created at
// once.
func TestWhatIsSlowerThanPlannedStaysSo(t *testing.T) {
	plan := steps(stages.OpCreate, "r", 100)
	r := start(known(map[time.Duration][]stages.StepInfo{second: plan}), plan, 8)
	left := ""
	for i := range 45 {
		r.begin(plan[i])
		left = r.after(second)
		r.end(plan[i])
	}
	require.Equal(t, "about 60 s left", left)
}

func TestDeletesComeAfterEverythingElse(t *testing.T) {
	plan := []stages.StepInfo{step(stages.OpCreate, "a"), step(stages.OpDelete, "old", "oldest"), step(stages.OpDelete, "oldest")}
	r := start(known(map[time.Duration][]stages.StepInfo{20 * second: plan}), plan, 8)
	r.begin(plan[0])
	require.Equal(t, "about 60 s left", r.after(2*second))
}

func TestNothingIsSaidWhereTooLittleIsKnown(t *testing.T) {
	plan := steps(stages.OpCreate, "r", 20)
	d := known(map[time.Duration][]stages.StepInfo{10 * second: plan[:2]})
	r := start(d, plan, 8)
	r.begin(plan[:8]...)
	require.Empty(t, r.after(10*second))
	r.end(plan[:8]...) // others of the type have been created
	r.begin(plan[8:16]...)
	require.NotEmpty(t, r.after(2*second))

	r = start(known(map[time.Duration][]stages.StepInfo{second: plan}), nil, 8) // there was no preview
	r.begin(plan...)
	require.Empty(t, r.after(10*second))

	r = start(known(map[time.Duration][]stages.StepInfo{60 * second: plan}), plan, 20)
	r.begin(plan...)
	require.NotEmpty(t, r.after(10*second))
	r.Observe(stages.StepFailed{Step: plan[0], Err: errors.New("no"), At: r.now})
	require.Empty(t, r.after(10*second)) // others will not be created

	r = start(known(map[time.Duration][]stages.StepInfo{second: plan}), plan[:1], 20)
	r.begin(plan[0])
	require.NotEmpty(t, r.after(3*second))
	require.Empty(t, r.after(time.Minute)) // it is overdue
}

func TestAPauseDoesNotCount(t *testing.T) {
	plan := steps(stages.OpCreate, "r", 20)
	r := start(known(map[time.Duration][]stages.StepInfo{10 * second: plan}), plan, 10)
	r.begin(plan[:10]...)
	r.after(10 * second)
	r.end(plan[:10]...)
	r.after(time.Hour)
	r.begin(plan[10:]...)
	require.Equal(t, "about 10 s left", r.after(2*second))
}

// Whatever happens from one moment to the next, the shown estimate changes in small steps, and does not go up and
// down.
func TestTheEstimateDoesNotJump(t *testing.T) {
	var s steady
	now, last := noon, time.Duration(0)
	shown := map[time.Duration]bool{}
	for i := range 200 {
		noise := time.Duration(1 - 2*(i%2)) // the estimate is 20 % too high, then 20 % too low
		left := 600*second - time.Duration(i)*second
		next := s.next(now, left+noise*left/5)
		require.False(t, next > last && i > 0, "%s after %s", next, last)
		last, shown[next] = next, true
		now = now.Add(second)
	}
	require.Less(t, len(shown), 8)
	require.InDelta(t, 400, last.Seconds(), 80)
}

func TestAnEstimateInWords(t *testing.T) {
	for left, want := range map[time.Duration]string{
		second: "a few seconds left", 30 * second: "about 30 s left", 2 * time.Minute: "about 2 min left", time.Hour: "about 1 h left",
		95 * time.Minute: "about 1 h 35 min left",
	} {
		require.Equal(t, want, text(left))
	}
}

func TestWhatIsRememberedIsBoundedAndHasNoNames(t *testing.T) {
	d := newDurations()
	w := New(d, nil, 1)
	r := &run{w, noon}
	for i := range maxResources + 1000 {
		s := step(stages.OpCreate, fmt.Sprintf("%s%d", strings.Repeat("s3cret", 100), i))
		r.begin(s)
		r.after(time.Duration(i) * time.Millisecond)
		r.end(s)
	}
	content, err := w.durations()
	require.NoError(t, err)
	require.Less(t, len(content), 300_000)
	require.NotContains(t, string(content), "s3cret")
	var f file
	require.NoError(t, json.Unmarshal(content, &f))
	require.Len(t, f.Resources, maxResources)
	require.Empty(t, f.Types) // their names are too long
}

func TestTheLastDurationsCountMost(t *testing.T) {
	d := newDurations()
	s := step(stages.OpCreate, "db")
	for range 30 {
		d.add(s.Op, s.URN, 100*second)
	}
	for range 10 {
		d.add(s.Op, s.URN, 10*second)
	}
	took, known := d.of(s.Op, s.URN)
	require.True(t, known)
	require.InDelta(t, 10, took.Seconds(), 1)
	took, known = d.of(s.Op, nameOf("db7")) // from others of the type
	require.True(t, known)
	require.Less(t, took, 70*second)
	_, known = d.of(stages.OpDelete, s.URN)
	require.False(t, known)
}

func BenchmarkLeft(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan := steps(stages.OpCreate, "r", n, "r0")
			r := start(known(map[time.Duration][]stages.StepInfo{second: plan[:5000]}), plan, 16)
			r.begin(plan[:16]...)
			r.now = r.now.Add(3 * second)
			for b.Loop() {
				_, known := r.estimate(r.now)
				require.True(b, known)
			}
		})
	}
}
