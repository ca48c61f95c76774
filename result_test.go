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
