package meter

import (
	"context"
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

func TestAReadingHasWhatAFunctionUsed(t *testing.T) {
	var kept [][]byte
	r, err := Function(t.Context(), func(context.Context) error {
		for range 100 {
			kept = append(kept, make([]byte, 1<<16))
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, kept, 100)
	require.GreaterOrEqual(t, r[results.Allocated], float64(100<<16))
	require.GreaterOrEqual(t, r[results.Allocs], 100.0)
	require.GreaterOrEqual(t, r[results.Peak], float64(100<<16)*0.9, "what is in use at the end counts")
	require.Positive(t, r[results.Time])
}

func TestTheErrorOfAFunctionIsReturned(t *testing.T) {
	wrong := errors.New("wrong")
	_, err := Function(t.Context(), func(context.Context) error { return wrong })
	require.ErrorIs(t, err, wrong)
}

func TestAProcessThatFailsSaysWhatItPrinted(t *testing.T) {
	_, err := Process(exec.CommandContext(t.Context(), "go", "no-such-command"))
	require.ErrorContains(t, err, "no-such-command: unknown command")
	r, err := Process(exec.CommandContext(t.Context(), "go", "version"))
	require.NoError(t, err)
	require.Positive(t, r[results.Time])
}
