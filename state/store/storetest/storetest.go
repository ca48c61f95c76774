// Package storetest checks that a store fulfils the contract of package store. It is for the tests of stores.
package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
)

// Run checks an empty store.
func Run(t *testing.T, s store.Store) {
	ctx := context.Background()
	write := func(key, content string, c store.Condition) (store.Info, error) {
		return s.Write(ctx, key, []byte(content), c)
	}
	must := func(key, content string) {
		t.Helper()
		_, err := write(key, content, store.Condition{})
		require.NoError(t, err)
	}
	read := func(key string) string {
		t.Helper()
		b, info, err := s.Read(ctx, key)
		require.NoError(t, err)
		require.Equal(t, key, info.Key)
		return string(b)
	}

	t.Run("what is not there is missing", func(t *testing.T) {
		_, _, err := s.Read(ctx, "none")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, s.Name("none"))
		require.ErrorIs(t, s.Copy(ctx, "none", "other"), fs.ErrNotExist)
		require.NoError(t, store.Keep(ctx, s, "none", "other"))
		infos, err := s.Stat(ctx, "none", "other")
		require.NoError(t, err)
		require.Empty(t, infos)
		infos, err = s.List(ctx, "")
		require.NoError(t, err)
		require.Empty(t, infos)
		require.NoError(t, s.Remove(ctx, "none"))
		require.NoError(t, s.Remove(ctx))
	})
	t.Run("contents are replaced as a whole", func(t *testing.T) {
		for _, content := range []string{"a", "", "\x00\xff binary", string(make([]byte, 300_000))} {
			must("a/b.json", content)
			require.Equal(t, content, read("a/b.json"))
		}
		infos, err := s.Stat(ctx, "a/none", "a/b.json")
		require.NoError(t, err)
		require.Len(t, infos, 1)
		require.False(t, infos[0].Modified.IsZero())
		require.NotEmpty(t, infos[0].Revision)
	})
	t.Run("prefixes are listed in order", func(t *testing.T) {
		for _, key := range []string{"l/x/2", "l/x/10", "l/x_y", "lazy", "l/xx", "l%"} {
			must(key, "1")
		}
		for prefix, want := range map[string][]string{
			"l/": {"l/x/10", "l/x/2", "l/x_y", "l/xx"}, "l/x": {"l/x/10", "l/x/2", "l/x_y", "l/xx"}, "l/x/": {"l/x/10", "l/x/2"},
			"l/x_": {"l/x_y"}, "l%": {"l%"}, "l/z": nil,
		} {
			infos, err := s.List(ctx, prefix)
			require.NoError(t, err)
			var keys []string
			for _, i := range infos {
				keys = append(keys, i.Key)
				require.NotZero(t, i.Size)
			}
			require.Equal(t, want, keys, prefix)
		}
	})
	t.Run("copies share nothing", func(t *testing.T) {
		must("c/from", "1")
		require.NoError(t, s.Copy(ctx, "c/from", "c/copy"))
		require.NoError(t, store.Keep(ctx, s, "c/from", "c/kept"))
		require.NoError(t, store.Keep(ctx, s, "c/from", "c/kept"))
		must("c/from", "2")
		require.Equal(t, "1", read("c/copy"))
		require.Equal(t, "1", read("c/kept"))
		require.NoError(t, s.Copy(ctx, "c/from", "c/copy"))
		require.Equal(t, "2", read("c/copy"))
		require.NoError(t, s.Remove(ctx, "c/from", "c/none", "c/kept"))
		infos, err := s.Stat(ctx, "c/from", "c/copy", "c/kept")
		require.NoError(t, err)
		require.Len(t, infos, 1)
		require.Equal(t, "c/copy", infos[0].Key)
	})
	t.Run("conditions hold", func(t *testing.T) {
		first, err := write("w", "1", store.IfAbsent())
		require.NoError(t, err)
		_, err = write("w", "x", store.IfAbsent())
		require.ErrorIs(t, err, store.ErrConflict)
		second, err := write("w", "22", store.IfRevision(first.Revision))
		require.NoError(t, err)
		_, err = write("w", "x", store.IfRevision(first.Revision))
		require.ErrorIs(t, err, store.ErrConflict)
		third, err := write("w", "33", store.IfUnchanged(second))
		require.NoError(t, err)
		require.NotEqual(t, second.Revision, third.Revision)
		require.Equal(t, "33", read("w"))
		require.NoError(t, s.Remove(ctx, "w"))
		_, err = write("w", "x", store.IfRevision(third.Revision))
		require.ErrorIs(t, err, store.ErrConflict)
		_, err = write("new", "1", store.New())
		require.NoError(t, err)
		_, err = write("new", "2", store.New())
		require.ErrorIs(t, err, store.ErrConflict)
		_, err = write("w", "4", store.IfUnchanged(store.Info{}))
		require.NoError(t, err)
	})
}

// RunAtomic checks that of several concurrent conditional writes one succeeds. Directories do not guarantee that.
func RunAtomic(t *testing.T, s store.Store) {
	ctx := context.Background()
	before, err := s.Write(ctx, "atomic", []byte("0"), store.IfAbsent())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		key string
		c   store.Condition
	}{"if absent": {"fresh", store.IfAbsent()}, "if revision": {"atomic", store.IfRevision(before.Revision)}} {
		t.Run(name, func(t *testing.T) {
			var won, failed atomic.Int32
			var wg conc.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					switch _, err := s.Write(ctx, c.key, fmt.Append(nil, 100+i), c.c); {
					case err == nil:
						won.Add(1)
					default:
						require.ErrorIs(t, err, store.ErrConflict)
						failed.Add(1)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1, won.Load())
			require.EqualValues(t, 19, failed.Load())
		})
	}
}

// RunLog checks the log of a key in a store.
func RunLog(t *testing.T, s store.Store) {
	ctx := context.Background()
	const key = "logs/shop/dev.jnl"
	open := func() store.Log { return store.NewLog(s, key) }
	requireContent := func(want string) {
		t.Helper()
		b, err := open().Read(ctx)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
		there, err := open().Exists(ctx)
		require.NoError(t, err)
		require.True(t, there)
	}
	requireNone := func() {
		t.Helper()
		b, err := open().Read(ctx)
		require.NoError(t, err)
		require.Nil(t, b)
		there, err := open().Exists(ctx)
		require.NoError(t, err)
		require.False(t, there)
	}
	requireNone()
	require.NoError(t, open().Remove(ctx))
	l := open()
	require.NoError(t, l.Create(ctx, []byte("head")))
	requireContent("head")
	for _, b := range []string{" one", " two", " three"} {
		require.NoError(t, l.Append(ctx, []byte(b)))
	}
	requireContent("head one two three")
	refused := open()
	require.ErrorIs(t, refused.Create(ctx, []byte("another")), store.ErrConflict)
	requireContent("head one two three")
	require.NoError(t, refused.Remove(ctx), "there is none of its own")
	requireContent("head one two three")
	require.NoError(t, open().Append(ctx, []byte(" four")), "another process goes on")
	requireContent("head one two three four")
	for _, cut := range []struct {
		size int64
		want string
	}{{21, "head one two three fo"}, {12, "head one two"}, {11, "head one tw"}} {
		require.NoError(t, open().Truncate(ctx, cut.size))
		requireContent(cut.want)
	}
	require.NoError(t, open().Append(ctx, []byte("!")))
	requireContent("head one tw!")
	require.NoError(t, open().Remove(ctx))
	requireNone()
	require.NoError(t, open().Create(ctx, []byte("again")))
	requireContent("again")
	require.NoError(t, open().Remove(ctx))
	infos, err := s.List(ctx, "logs/")
	require.NoError(t, err)
	require.Empty(t, infos)
}
