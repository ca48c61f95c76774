package postgres

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/postgrestest"
)

func as(t *testing.T, text, role string) string {
	u, err := url.Parse(text)
	require.NoError(t, err)
	u.User = url.User(role)
	return u.String()
}

func TestWhoHoldsANameIsKnownAndCanBeEnded(t *testing.T) {
	ctx := context.Background()
	address := postgrestest.Start(t)
	admin := open(t, address)
	_, err := admin.pool.Exec(ctx, `CREATE ROLE deploy LOGIN; CREATE ROLE ci LOGIN; CREATE ROLE operator LOGIN; GRANT pg_signal_backend TO operator`)
	require.NoError(t, err)
	none, err := admin.Holding(ctx, "dev")
	require.NoError(t, err)
	require.Nil(t, none)

	held := func(t *testing.T, s *Store, name, by string) (store.Hold, store.Session) {
		t.Helper()
		h, err := s.Exclude(ctx, name, by)
		require.NoError(t, err)
		require.NotNil(t, h)
		t.Cleanup(func() { require.NoError(t, h.Close()) })
		who, err := open(t, as(t, address, "ci")).Holding(ctx, name)
		require.NoError(t, err)
		require.NotNil(t, who)
		require.Equal(t, by, who.Holder, "every role is told")
		return h, *who
	}
	deploy := open(t, as(t, address, "deploy")+"&application_name=mine")

	t.Run("by its own role", func(t *testing.T) {
		h, who := held(t, deploy, "dev", strings.Repeat("x", store.MaxHolder))
		require.Equal(t, "deploy", who.Account)
		other, err := deploy.Exclude(ctx, "prod", "another")
		require.NoError(t, err)
		defer other.Close()
		again, err := open(t, as(t, address, "deploy")).Holding(ctx, "dev")
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), again.Since, time.Minute)

		require.NoError(t, deploy.End(ctx, "prod", who), "it does not hold that name")
		require.NoError(t, h.Alive(ctx))
		changed := who
		changed.Holder = "somebody else"
		require.NoError(t, deploy.End(ctx, "dev", changed), "it does not say that any more")
		require.NoError(t, h.Alive(ctx))

		require.NoError(t, deploy.End(ctx, "dev", who))
		require.Error(t, h.Alive(ctx))
		require.NoError(t, other.Alive(ctx))
		next, err := deploy.Exclude(ctx, "dev", "next")
		require.NoError(t, err)
		require.NotNil(t, next, "the name is free at once")
		require.NoError(t, next.Close())
	})
	t.Run("by a role that may not", func(t *testing.T) {
		h, who := held(t, deploy, "dev", "one")
		err := open(t, as(t, address, "ci")).End(ctx, "dev", who)
		require.ErrorContains(t, err, `the role ci may not end the session `+who.ID+` of the role deploy: GRANT pg_signal_backend TO "ci", or connect as deploy`)
		require.NoError(t, h.Alive(ctx))
		require.NoError(t, open(t, as(t, address, "operator")).End(ctx, "dev", who))
		require.Error(t, h.Alive(ctx))
	})
	t.Run("of a superuser", func(t *testing.T) {
		h, who := held(t, admin, "dev", "one")
		err := open(t, as(t, address, "operator")).End(ctx, "dev", who)
		require.ErrorContains(t, err, "only a superuser may end the session of one")
		require.NoError(t, h.Alive(ctx))
	})
	t.Run("of another program", func(t *testing.T) {
		other := open(t, address+"&application_name=backup")
		conn, err := other.pool.Acquire(ctx)
		require.NoError(t, err)
		defer conn.Release()
		_, err = conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, admin.number("dev"))
		require.NoError(t, err)
		who, err := admin.Holding(ctx, "dev")
		require.NoError(t, err)
		require.Empty(t, who.Holder)
		require.ErrorContains(t, admin.End(ctx, "dev", *who), "is not sluice's")
		require.NoError(t, conn.Ping(ctx))
	})
}
