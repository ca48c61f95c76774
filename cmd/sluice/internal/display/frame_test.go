package display

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

// parts writes the calls that it gets.
type parts struct{ out *bytes.Buffer }

func (p parts) Begin(title string) { fmt.Fprintln(p.out, "<", title) }

func (p parts) End(failed bool) { fmt.Fprintln(p.out, ">", failed) }

func TestFramesHaveRowsAndDiagnostics(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Frame: parts{&out}})
	l.Observe(stages.StepDone{Step: step(stages.OpCreate, "a", nil, values{})})
	l.Observe(printed(0, "hello\n"))
	l.Observe(problem(thing("b"), "no"))
	l.Explain(Ending{Failed: "update"})
	l.Close()
	require.Equal(t, "< T\n +  pkg:mod:Thing a created\n> true\n< Diagnostics\n  stack:\n    hello\n> true\n\nUpdate failed:\n  pkg:mod:Thing (b):\n    error: no\n", out.String())
}

func TestAHeartbeatOfAJob(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	o := Options{Title: "Updating (dev):", Out: &out, Beginning: "starting the program", WaitsFor: "the program", Job: true, Now: func() time.Time { return c.now }}
	l := NewLog(o)
	beat := func() string {
		out.Reset()
		c.after(time.Minute)
		l.Tick()
		return out.String()
	}
	require.Equal(t, " @  still updating after 1m0s: 0 running, 0 done, starting the program\n", beat())
	l.Observe(stages.StepStarted{Step: step(stages.OpUpdate, "a", values{}, values{}), At: c.now})
	require.Equal(t, " @  still updating after 2m0s: 1 running, 0 done, slowest pkg:mod:Thing a 1m0s\n", beat())
	l.facts.p.Expected = 40
	l.Observe(stages.LimitWait{Limit: "reads", Waiting: true})
	require.Equal(t, " @  still updating after 3m0s: 1 running, 0 of 40 done, waiting for the limit reads, slowest pkg:mod:Thing a 2m0s\n", beat())
	l.Observe(stages.LimitWait{Limit: "reads"})
	l.Observe(stages.StepDone{Step: step(stages.OpUpdate, "a", values{}, values{}), At: c.now})
	l.flush(true)
	require.Equal(t, " @  still updating after 4m0s: 0 running, 1 of 40 done, waiting 1m0s for the program\n", beat())
}
