package sluice_test

import (
	"errors"
	"testing"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
)

// Callers find what they look for in each failure, and in the cause, without regard to the kind of the aggregate.
func TestTheFailuresOfAnOperationAreSearchedOneByOne(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	failed := &sluice.FailedError{
		Operation: "update", Cause: sluice.ErrInterrupted,
		Err: multierror.Append(nil, first, advice.With(second, advice.On(advice.Unprotect, "urn:a"))),
	}
	for _, err := range []error{first, second, sluice.ErrInterrupted} {
		require.ErrorIs(t, failed, err)
	}
	require.Equal(t, []advice.Advice{advice.On(advice.Unprotect, "urn:a")}, advice.Of(failed))
	require.Empty(t, (&sluice.FailedError{Operation: "update", Canceled: true}).Unwrap())
}

// An operation that could not begin has no result, and callers may look at it all the same.
func TestAResultThatIsNilHasNothing(t *testing.T) {
	none, err := sluice.Preview(t.Context(), sluice.Options{})
	require.Error(t, err)
	require.Nil(t, none)
	for _, r := range []*sluice.Result{none, {}} {
		require.Empty(t, r.Steps())
		require.False(t, r.HasChanges())
		require.Nil(t, r.Why("urn:a"))
		require.Empty(t, r.Decisions().Decisions)
		require.Empty(t, r.DecisionsSince(nil).Decisions)
	}
}
