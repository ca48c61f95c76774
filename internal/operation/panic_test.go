package operation

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
)

// watchedStore counts the open recordings.
type watchedStore struct{ begun, open int }

func (s *watchedStore) Load(context.Context) (*state.Snapshot, error) { return nil, nil }

func (s *watchedStore) Record(_ context.Context, base *state.Snapshot) (state.Recorder, error) {
	s.begun, s.open = s.begun+1, s.open+1
	return state.NewMemoryRecorder(state.NewLedger(base, state.LedgerOptions{}), func(*state.Snapshot) { s.open-- }), nil
}

func TestAPanicInAssemblyIsAFailureAndClosesTheRecord(t *testing.T) {
	store := &watchedStore{}
	out, err := Perform(t.Context(), Settings{
		Name: "update", State: store, Messages: func(func(stages.LogMessage)) {},
		Assemble: func(*standard.Run) (standard.Assembly, error) { panic("boom") },
		Program: source.Func(func(context.Context, stages.Monitor) error {
			t.Error("there is nothing that could answer the program")
			return nil
		}),
		Providers: providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) {
			return nil, errors.New("none")
		}),
		OnInterrupt: func(func(), func()) {}, Stopped: func() bool { return false }, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.Equal(t, stages.Failed, out.Ended)
	require.ErrorContains(t, out.Err, "assembling the pipeline: panic: boom")
	require.Equal(t, watchedStore{begun: 1}, *store)
}
