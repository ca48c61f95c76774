package main

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/backend"
)

// repeating keeps events in parts, the tokens of which come again.
type repeating struct{ calls int }

func (r *repeating) KeptEvents(context.Context, string, backend.EventFilter, string) ([]json.RawMessage, string, error) {
	r.calls++
	return []json.RawMessage{json.RawMessage("{}")}, []string{"a", "b"}[r.calls%2], nil
}

func TestEventsWhosePartsComeAgainEnd(t *testing.T) {
	keeper := &repeating{}
	next := eventsOf(t.Context(), keeper, historyEventFlags{all: true})
	for range 2 {
		_, more, err := next()
		require.NoError(t, err)
		require.True(t, more)
	}
	_, _, err := next()
	require.ErrorContains(t, err, "have no end")
	require.Equal(t, 3, keeper.calls)
}
