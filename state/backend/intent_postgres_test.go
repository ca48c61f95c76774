package backend

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/secrets/secretstest"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/postgres"
	"github.com/sluice-iac/sluice/testing/postgrestest"
)

func TestKilledOperationsOnTwoStacksInPostgreSQLAreCompleted(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Start(t)
	tables := 0
	fresh := func(t *testing.T) *place {
		tables++
		s, err := postgres.Open(ctx, fmt.Sprintf("%s&table=states_%d", url, tables), nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		put := func(key, content string) {
			_, err := s.Write(ctx, key, []byte(content), store.Condition{})
			require.NoError(t, err)
		}
		return &place{T: t, keys: secretstest.Source("p"), put: put, open: func(l *life) store.Store { return mortal{s, l} }}
	}
	for what, o := range twofolds() {
		t.Run(what, func(t *testing.T) {
			s := newScene(t, o, fresh)
			completed := 0
			for moment := range s.moments {
				t.Run(fmt.Sprint("moment ", moment), func(t *testing.T) { // which closes the store at its end
					if s.killed(t, moment, []Ref{o.from, o.to}[moment%2]) {
						completed++
					}
				})
			}
			require.Positive(t, completed)
		})
	}
}
