package store_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/objects"
	"github.com/sluice-iac/sluice/state/store/storetest"
)

func TestDirectoryIsAStore(t *testing.T) {
	storetest.Run(t, store.NewDir(t.TempDir()))
	storetest.RunLog(t, store.NewDir(t.TempDir()))
}

func TestALogThatCannotBeLookedForIsAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("where it does not exist then")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "journal"), nil, 0o600))
	_, err := store.NewLog(store.NewDir(dir), "journal/dev.jnl").Exists(context.Background())
	require.Error(t, err)
}

func TestErrorOfARemovalNamesTheFileOnce(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	require.NoError(t, os.MkdirAll(filepath.Join(full, "of"), 0o700))
	err := store.NewDir(dir).Remove(context.Background(), "full")
	require.Error(t, err)
	require.Equal(t, 1, strings.Count(err.Error(), full), err)
}

func TestAFileThatCannotBeMadeIsReportedWithItsFolder(t *testing.T) {
	d := store.NewDir(t.TempDir())
	d.KeepTidy("own/tmp", "locks/")
	require.NoError(t, os.Mkdir(d.Path("own"), 0o700))
	require.NoError(t, os.WriteFile(d.Path("own/tmp"), nil, 0o600))
	_, err := d.Write(t.Context(), "locks/1.json", nil, store.Condition{})
	require.ErrorContains(t, err, "make a file in "+d.Path("own/tmp")+": ")
}

func TestWhatIsLeftOfARemovedLogIsNoLog(t *testing.T) {
	ctx := context.Background()
	s := objects.New(memblob.OpenBucket(nil), objects.Options{URL: "mem://"})
	l := store.NewLog(s, "dev.jnl")
	require.NoError(t, l.Create(ctx, []byte("1")))
	require.NoError(t, l.Append(ctx, []byte("2")))
	infos, err := s.List(ctx, "dev/")
	require.NoError(t, err)
	require.Len(t, infos, 2)
	require.Regexp(t, `^dev/[0-9a-f-]{36}/000000000001\.seg$`, infos[0].Key)
	require.NoError(t, s.Remove(ctx, infos[0].Key))
	b, err := store.NewLog(s, "dev.jnl").Read(ctx)
	require.NoError(t, err)
	require.Nil(t, b)
	again := store.NewLog(s, "dev.jnl")
	require.NoError(t, again.Create(ctx, []byte("new")))
	b, err = store.NewLog(s, "dev.jnl").Read(ctx)
	require.NoError(t, err)
	require.Equal(t, "new", string(b))
}

func TestWhatIsLeftOfARemovedLogIsSwept(t *testing.T) {
	ctx := context.Background()
	s := objects.New(memblob.OpenBucket(nil), objects.Options{URL: "mem://"})
	present, removed := store.NewLog(s, "dev.jnl"), store.NewLog(s, "prod.jnl")
	for _, l := range []store.Log{present, removed} {
		require.NoError(t, l.Create(ctx, []byte("1")))
		require.NoError(t, l.Append(ctx, []byte("2")))
	}
	infos, err := s.List(ctx, "prod/")
	require.NoError(t, err)
	require.NoError(t, s.Remove(ctx, infos[0].Key))
	for _, key := range []string{"dev.jnl", "prod.jnl"} {
		require.NoError(t, store.NewLog(s, key).Sweep(ctx))
	}
	infos, err = s.List(ctx, "prod/")
	require.NoError(t, err)
	require.Empty(t, infos)
	b, err := store.NewLog(s, "dev.jnl").Read(ctx)
	require.NoError(t, err)
	require.Equal(t, "12", string(b))
}

func TestALogWithAGapIsNotRead(t *testing.T) {
	ctx := context.Background()
	s := objects.New(memblob.OpenBucket(nil), objects.Options{URL: "mem://"})
	l := store.NewLog(s, "dev.jnl")
	require.NoError(t, l.Create(ctx, []byte("1")))
	require.NoError(t, l.Append(ctx, []byte("2")))
	require.NoError(t, l.Append(ctx, []byte("3")))
	infos, err := s.List(ctx, "dev/")
	require.NoError(t, err)
	require.NoError(t, s.Remove(ctx, infos[1].Key))
	_, err = store.NewLog(s, "dev.jnl").Read(ctx)
	require.ErrorContains(t, err, "segment 2 of the journal is missing")
}

func TestACopyIsNotHeldInMemory(t *testing.T) {
	ctx, dir := context.Background(), store.NewDir(t.TempDir())
	const size = 32 << 20
	_, err := dir.Write(ctx, "state.json", make([]byte, size), store.Condition{})
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, dir.Copy(ctx, "state.json", "history/state.json"))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/8))
	content, _, err := dir.Read(ctx, "history/state.json")
	require.NoError(t, err)
	require.Len(t, content, size)
}

func link(t *testing.T, target, name string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	if err := os.Symlink(target, name); err != nil {
		t.Skip("this system does not allow symbolic links: ", err)
	}
}

// A second name of a symbolic link would be another link to the same file.
func TestTheContentBehindASymbolicLinkIsKept(t *testing.T) {
	ctx, outside := t.Context(), filepath.Join(t.TempDir(), "real.json")
	require.NoError(t, os.WriteFile(outside, []byte("1"), 0o600))
	d := store.NewDir(t.TempDir())
	link(t, outside, d.Path("stacks/dev.json"))
	require.NoError(t, d.Keep(ctx, "stacks/dev.json", "stacks/dev.json.bak"))
	_, err := d.Write(ctx, "stacks/dev.json", []byte("2"), store.Condition{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(outside, []byte("3"), 0o600)) // in place
	for key, want := range map[string]string{"stacks/dev.json": "2", "stacks/dev.json.bak": "1"} {
		b, _, err := d.Read(ctx, key)
		require.NoError(t, err)
		require.Equal(t, want, string(b), key)
	}
	entries, err := os.ReadDir(d.Path("stacks"))
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

func TestWhatIsNotAFileIsNotTakenForNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		make   func(t *testing.T, file string)
		err    string
		listed bool
	}{
		"a link to nothing": {
			func(t *testing.T, file string) { link(t, filepath.Join(t.TempDir(), "gone"), file) }, "which does not exist", true,
		},
		"a link to itself": {func(t *testing.T, file string) { link(t, file, file) }, "dev.json", true},
		"a folder": {
			func(t *testing.T, file string) { require.NoError(t, os.MkdirAll(file, 0o700)) }, "is a folder", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, d := t.Context(), store.NewDir(t.TempDir())
			tt.make(t, d.Path("stacks/dev.json"))
			_, err := d.Stat(ctx, "stacks/dev.json")
			require.ErrorContains(t, err, tt.err)
			_, _, err = d.Read(ctx, "stacks/dev.json")
			require.Error(t, err)
			require.NotErrorIs(t, err, fs.ErrNotExist)
			infos, err := d.List(ctx, "stacks/")
			require.NoError(t, err)
			require.Equal(t, tt.listed, len(infos) == 1)
		})
	}
}

// A lock that is not seen excludes nobody.
func TestAFolderBehindASymbolicLinkIsListed(t *testing.T) {
	ctx, d := t.Context(), store.NewDir(t.TempDir())
	link(t, t.TempDir(), d.Path("locks/dev"))
	_, err := d.Write(ctx, "locks/dev/1.json", []byte("1"), store.Condition{})
	require.NoError(t, err)
	infos, err := d.List(ctx, "locks/dev/")
	require.NoError(t, err)
	require.Len(t, infos, 1)
	require.Equal(t, "locks/dev/1.json", infos[0].Key)
}
