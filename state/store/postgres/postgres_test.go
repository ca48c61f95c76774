package postgres

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/storetest"
	"github.com/sluice-iac/sluice/testing/postgrestest"
)

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(context.Background(), url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s.(*Store)
}

func TestPostgres(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Start(t)

	t.Run("is a store", func(t *testing.T) { storetest.Run(t, open(t, url)) })
	t.Run("keeps logs", func(t *testing.T) { storetest.RunLog(t, open(t, url+"&table=logs")) })
	t.Run("is an atomic one", func(t *testing.T) { storetest.RunAtomic(t, open(t, url)) })

	t.Run("opening and reading create nothing", func(t *testing.T) {
		s := open(t, url+"&table=untouched")
		_, err := s.List(ctx, "")
		require.NoError(t, err)
		require.NoError(t, s.Remove(ctx, "a"))
		var found *string
		require.NoError(t, s.pool.QueryRow(ctx, `SELECT to_regclass('untouched')::text`).Scan(&found))
		require.Nil(t, found)
	})

	t.Run("the table is as Pulumi makes it", func(t *testing.T) {
		s := open(t, url+"&table=made")
		_, err := s.Write(ctx, "k_1", []byte("content"), store.Condition{})
		require.NoError(t, err)
		var data, index string
		require.NoError(t, s.pool.QueryRow(ctx, `SELECT data->>'data' FROM made WHERE key = 'k_1'`).Scan(&data))
		require.Equal(t, base64.StdEncoding.EncodeToString([]byte("content")), data)
		require.NoError(t, s.pool.QueryRow(ctx, `SELECT indexdef FROM pg_indexes WHERE indexname = 'made_key_prefix_idx'`).Scan(&index))
		require.Contains(t, index, "text_pattern_ops")
		rows := map[string]string{}
		r, err := s.pool.Query(ctx, `SELECT column_name, data_type || ' ' || is_nullable FROM information_schema.columns WHERE table_name = 'made'`)
		require.NoError(t, err)
		for r.Next() {
			var column, kind string
			require.NoError(t, r.Scan(&column, &kind))
			rows[column] = kind
		}
		require.Equal(t, map[string]string{"key": "text NO", "data": "json NO", "updated_at": "timestamp with time zone NO"}, rows)
	})

	t.Run("what others have written is read", func(t *testing.T) {
		s := open(t, url+"&table=made")
		_, err := s.pool.Exec(ctx, `INSERT INTO made (key, data) VALUES ('by/pulumi', '{"data": "aGk="}')`)
		require.NoError(t, err)
		b, _, err := s.Read(ctx, "by/pulumi")
		require.NoError(t, err)
		require.Equal(t, "hi", string(b))
	})

	t.Run("many make the table at once", func(t *testing.T) {
		var wg conc.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, err := open(t, url+"&table=crowded").Write(ctx, "k", []byte("x"), store.Condition{})
				require.NoError(t, err)
			})
		}
		wg.Wait()
	})

	t.Run("a name is held by one session until it ends", func(t *testing.T) {
		a, b := open(t, url), open(t, url)
		held, err := a.Exclude(ctx, "dev", "one")
		require.NoError(t, err)
		require.NoError(t, held.Alive(ctx))
		none, err := b.Exclude(ctx, "dev", "two")
		require.NoError(t, err)
		require.Nil(t, none)
		other, err := b.Exclude(ctx, "prod", "two")
		require.NoError(t, err)
		require.NoError(t, other.Close())

		_, err = b.pool.Exec(ctx, `SELECT pg_terminate_backend($1)`, held.(*hold).backend)
		require.NoError(t, err)
		require.Error(t, held.Alive(ctx))
		require.Eventually(t, func() bool {
			again, err := b.Exclude(ctx, "dev", "two")
			require.NoError(t, err)
			return again != nil && again.Close() == nil
		}, 10*time.Minute, 10*time.Millisecond) // only a failure takes that long
		require.NoError(t, held.Close())
	})

	t.Run("a lost connection is made again", func(t *testing.T) {
		s, other := open(t, url), open(t, url)
		_, err := other.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'sluice'`)
		require.NoError(t, err)
		_, err = s.Write(ctx, "k", []byte("x"), store.Condition{})
		require.NoError(t, err)
	})
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://me:hunter2@h/db?table=a%3Bdrop": "is not a name for a table",
		"postgres://me:hunter2@h/db?a;b":            "its parameters cannot be read",
		"postgres://me:hunter2@h:x/db":              "cannot be read",
		"postgres://me:hunter2@h/db?sslmode=odd":    "postgres://****@h/db",
		"postgres://me:hunter2@/db?host=/nowhere":   "postgres://****@/db",
	} {
		_, err := Open(context.Background(), text, nil)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
