package meter

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

func TestAReadingHasWhatAFunctionUsed(t *testing.T) {
	var kept [][]byte
	r, err := Function(t.Context(), Run{}, func(context.Context) error {
		for range 100 {
			kept = append(kept, make([]byte, 1<<16))
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, kept, 100)
	require.GreaterOrEqual(t, r.Values[results.Allocated], float64(100<<16))
	require.GreaterOrEqual(t, r.Values[results.Allocs], 100.0)
	require.GreaterOrEqual(t, r.Values[results.Peak], float64(100<<16)*0.9, "what is in use at the end counts")
	require.Positive(t, r.Values[results.Time])
}

func TestTheErrorOfAFunctionIsReturned(t *testing.T) {
	wrong := errors.New("wrong")
	_, err := Function(t.Context(), Run{}, func(context.Context) error { return wrong })
	require.ErrorIs(t, err, wrong)
}

func TestAProcessThatFailsSaysWhatItPrinted(t *testing.T) {
	_, err := Process(t.Context(), Run{}, exec.CommandContext(t.Context(), "go", "no-such-command"))
	require.ErrorContains(t, err, "no-such-command: unknown command")
	r, err := Process(t.Context(), Run{}, exec.CommandContext(t.Context(), "go", "version"))
	require.NoError(t, err)
	require.Positive(t, r.Values[results.Time])
}

func TestATimelineOfAFunctionHasItsMemory(t *testing.T) {
	var kept []byte
	r, err := Function(t.Context(), Run{Timeline: true}, func(context.Context) error {
		kept = make([]byte, 10<<20)
		runtime.GC()
		return nil
	})
	require.NoError(t, err)
	require.Len(t, kept, 10<<20)
	last := r.Timeline[len(r.Timeline)-1]
	require.GreaterOrEqual(t, last.Memory, float64(10<<20))
	require.GreaterOrEqual(t, last.Live, float64(10<<20))
	require.Positive(t, last.Collections)
	require.Positive(t, r.Values[results.Collected])
}

func TestTheCollectorOfAProcessIsInItsTimeline(t *testing.T) {
	output := "gc 1 @0.010s 3%: 0.54+3.6+0.058 ms clock, 1.0+0/0.5/0.3+0.2 ms cpu, 64->65->6 MB, 64 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		"  a child: gc 1 @0.015s 3%: 0.54+3.6+0.058 ms clock, 1.0+0/0.5/0.3+0.2 ms cpu, 1->1->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		"something else\n" +
		"gc 2 @0.020s 5%: 0.50+5.4+0.26 ms clock, 2.0+0.12/1.0/0.60+0.28 ms cpu, 30->44->12 MB, 25 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
	moments := withCollections([]results.Moment{{At: 0.005, Memory: 1}, {At: 0.012, Memory: 2}, {At: 0.03, Memory: 3}}, []byte(output))
	require.Equal(t, results.Moment{At: 0.005, Memory: 1}, moments[0])
	require.Equal(t, results.Moment{At: 0.012, Memory: 2, Live: 6 << 20, Goal: 64 << 20, Collections: 1, Collector: 0.002}, moments[1])
	require.EqualValues(t, 2, moments[2].Collections)
	require.InDelta(t, 0.006, moments[2].Collector, 1e-9)
	require.Equal(t, "  a child: ", collection.ReplaceAllString(output, "")[:11])
}

func TestATimelineOfAProcessHasItsMemory(t *testing.T) {
	if memoryOf(os.Getpid()) == 0 {
		t.Skip("this system does not report it")
	}
	r, err := Process(t.Context(), Run{Timeline: true}, exec.CommandContext(t.Context(), "go", "list", "-deps", "net/http"))
	require.NoError(t, err)
	require.NotEmpty(t, r.Timeline)
	require.Positive(t, r.Timeline[0].Memory)
}
