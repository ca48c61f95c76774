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

// Another process may write the stack file under another name than this one, as its compression is its own.
func TestAWriterRefusesWhatAnotherProcessHasWrittenUnderAnyName(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		before []string // of the writer
		writes int      // of the writer, before the other process writes
		theirs string
		kept   map[string]string // what there is besides the file of the other process
	}{
		"a file with another compression":                {writes: 1, theirs: key, kept: map[string]string{key + ".zst": "ours"}},
		"in place of the one that the first write keeps": {before: []string{key}, theirs: key},
		"beside the one that the first write keeps": {
			before: []string{key}, theirs: key + ".gz", kept: map[string]string{key: "before"},
		},
		"an older variant": {before: []string{key, key + ".gz"}, theirs: key, kept: map[string]string{key + ".gz": "before"}},
		"in place of one that the first write has removed": {
			before: []string{key}, writes: 1, theirs: key, kept: map[string]string{key + ".zst": "ours", key + ".bak": "before"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := store.NewDir(t.TempDir())
			for _, b := range c.before {
				put(t, s, b, "before")
			}
			f := fileIn(s)
			f.Format = compression.Zstandard
			w, err := f.Writer(ctx)
			require.NoError(t, err)
			for range c.writes {
				require.NoError(t, w.Save(ctx, []byte("ours")))
			}
			put(t, s, c.theirs, "theirs!")
			for range 2 {
				err = w.Save(ctx, []byte("more"))
				require.ErrorIs(t, err, store.ErrConflict)
				require.ErrorContains(t, err, c.theirs)
			}
			want := map[string]string{c.theirs: "theirs!", ".pulumi/sluice/rejected/shop/dev.7.json": "more"}
			for key, content := range c.kept {
				want[key] = content
			}
			all := contents(t, s)
			for key, content := range all {
				unpacked, err := compression.Unpack([]byte(content))
				require.NoError(t, err)
				all[key] = string(unpacked)
			}
			require.Equal(t, want, all)
		})
	}
}

// meddled calls meddle after each write of a stack file.
type meddled struct {
	store.Store
	meddle func()
}

func (m meddled) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	defer m.meddle()
	return m.Store.Write(ctx, key, content, c)
}

func TestAWriterRemovesOnlyVariantsThatItKnows(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		theirs   string
		conflict bool
	}{"a known one has been written again": {key, true}, "another one has appeared": {key + ".zst", false}} {
		t.Run(name, func(t *testing.T) {
			s := store.NewDir(t.TempDir())
			put(t, s, key, "before")
			f := fileIn(meddled{s, func() { put(t, s, c.theirs, "theirs!") }})
			f.Format = compression.Gzip
			w, err := f.Writer(ctx)
			require.NoError(t, err)
			err = w.Replace(ctx, []byte("ours"))
			if c.conflict {
				require.ErrorIs(t, err, store.ErrConflict)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, "theirs!", contents(t, s)[c.theirs])
			require.ErrorIs(t, w.Replace(ctx, []byte("ours")), store.ErrConflict)
			require.Equal(t, "theirs!", contents(t, s)[c.theirs])
		})
	}
}

// An interrupted write leaves the variant that it was about to remove.
func TestAWriterRemovesTheVariantsThatThereWere(t *testing.T) {
	ctx := context.Background()
	s := store.NewDir(t.TempDir())
	put(t, s, key, "0")
	put(t, s, key+".zst", "1")
	f := fileIn(s)
	f.Format = compression.Gzip
	w, err := f.Writer(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Save(ctx, []byte("2")))
	require.NoError(t, w.Save(ctx, []byte("3")))
	all := contents(t, s)
	require.Len(t, all, 3)
	require.Equal(t, "0", all[key+".bak"])
	require.Equal(t, "1", all[key+".zst.bak"])
	content, _, err := f.Read(ctx)
	require.NoError(t, err)
	require.Equal(t, "3", string(content))
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
