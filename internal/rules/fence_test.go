package rules

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// A run that has lost the lock of its stack begins no more steps; those that had begun are recorded.
func TestARunThatHasLostItsLockBeginsNothing(t *testing.T) {
	memory := &sluice.MemoryState{}
	fence := sluice.NewFence(memory)
	lost := errors.New("the lock was lost")
	begun := 0
	fence.Guard(func(context.Context) error {
		if begun++; begun > 2 { // the default provider and the first resource
			return lost
		}
		return nil
	})
	cloud := providertest.NewCloud(providertest.Options{})
	_, err := sluice.Update(t.Context(), sluice.Options{
		Project: "shop", Stack: "dev", State: fence, Providers: cloud.Host(),
		Program: program(func(s *script) {
			s.thing("first", nil)
			s.thing("second", nil)
		}),
	})
	require.ErrorContains(t, err, lost.Error())
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
