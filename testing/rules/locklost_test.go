package rules

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
)

// losing is a state that loses its lock after some operations have begun.
type losing struct {
	*sluice.MemoryState
	left int
	lost error
}

func (l *losing) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	r, err := l.MemoryState.Record(ctx, base)
	return &losingRecorder{r, l}, err
}

type losingRecorder struct {
	state.Recorder
	of *losing
}

func (r *losingRecorder) Begin(ctx context.Context, op state.Pending) error {
	if r.of.left--; r.of.left < 0 {
		return r.of.lost
	}
	return r.Recorder.Begin(ctx, op)
}

// A run that has lost the lock of its stack begins no more steps; those that had begun are recorded.
func TestARunThatHasLostItsLockBeginsNothing(t *testing.T) {
	memory := &sluice.MemoryState{}
	stack := &losing{memory, 2, errors.New("the lock was lost")} // after the default provider and the first resource
	cloud := providertest.NewCloud(providertest.Options{})
	_, err := sluice.Update(t.Context(), sluice.Options{
		Project: "shop", Stack: "dev", State: stack, Providers: cloud.Host(),
		Program: program(func(s *script) {
			s.thing("first", nil)
			s.thing("second", nil)
		}),
	})
	require.ErrorContains(t, err, stack.lost.Error())
	records, _ := cloud.Records()
	require.Len(t, records, 1)
	var names []string
	for _, r := range memory.Snapshot().Resources {
		names = append(names, r.URN.Name())
	}
	require.Contains(t, names, "first")
	require.NotContains(t, names, "second")
	require.Empty(t, memory.Snapshot().Pending)
}
