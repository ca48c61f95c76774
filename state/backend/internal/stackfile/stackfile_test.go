package stackfile

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/compression"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

const key = ".pulumi/stacks/shop/dev.json"

func fileIn(s store.Store) File {
	return File{Store: s, Keys: layout.Stack{Project: "shop", Name: "dev"}, Stack: "organization/shop/dev", Now: func() time.Time { return time.Unix(0, 7) }}
}

func put(t *testing.T, s store.Store, key, content string) {
	t.Helper()
	_, err := s.Write(context.Background(), key, []byte(content), store.Condition{})
	require.NoError(t, err)
}

func contents(t *testing.T, s store.Store) map[string]string {
	t.Helper()
	infos, err := s.List(context.Background(), ".pulumi/")
	require.NoError(t, err)
	all := map[string]string{}
	for _, i := range infos {
		b, _, err := s.Read(context.Background(), i.Key)
		require.NoError(t, err)
		all[i.Key] = string(b)
	}
	return all
}

func TestAWriterKeepsThePreviousFileOnce(t *testing.T) {
	ctx := context.Background()
	s := store.NewDir(t.TempDir())
	f := fileIn(s)
	_, _, err := f.Read(ctx)
	require.ErrorIs(t, err, fs.ErrNotExist)
	put(t, s, key, "0")
	w, err := f.Writer(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Save(ctx, []byte("1")))
	require.NoError(t, w.Save(ctx, []byte("2")))
	require.Equal(t, map[string]string{key: "2", key + ".bak": "0"}, contents(t, s))

	w, err = f.Writer(ctx)
	require.NoError(t, err)
	w.Continue()
	require.NoError(t, w.Save(ctx, []byte("3")))
	require.Equal(t, map[string]string{key: "3", key + ".bak": "0"}, contents(t, s))

	require.NoError(t, f.Remove(ctx, true))
	require.Equal(t, map[string]string{key + ".bak": "3"}, contents(t, s))
}

func TestAWriterSetsAsideWhatItMayNotWrite(t *testing.T) {
	ctx := context.Background()
	s := store.NewDir(t.TempDir())
	f := fileIn(s)
	w, err := f.Writer(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Save(ctx, []byte("1")))
	put(t, s, key, "theirs")
	require.ErrorIs(t, w.Save(ctx, []byte("2")), store.ErrConflict)
	require.Equal(t, map[string]string{key: "theirs", ".pulumi/sluice/rejected/shop/dev.7.json": "2"}, contents(t, s))
}

func TestTheStackFileHasOneFormat(t *testing.T) {
	ctx := context.Background()
	s := store.NewDir(t.TempDir())
	put(t, s, key, "0")
	f := fileIn(s)
	f.Format, f.Retain = compression.Gzip, true
	w, err := f.Writer(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Save(ctx, []byte("1")))
	current, _, err := f.Current(ctx)
	require.NoError(t, err)
	require.Equal(t, key+".gz", current)
	content, _, err := f.Read(ctx)
	require.NoError(t, err)
	require.Equal(t, "1", string(content))
	all := contents(t, s)
	require.Len(t, all, 3)
	require.Equal(t, "0", all[key+".bak"])
	require.Contains(t, all, key+".gz.7")

	put(t, s, key+".gz", "\x1f\x8b\x08")
	_, _, err = f.Read(ctx)
	var damaged *state.DecodeError
	require.ErrorAs(t, err, &damaged)
}
