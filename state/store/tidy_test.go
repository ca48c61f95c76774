//go:build linux || darwin

package store_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/store"
)

// writes are the ways in which a directory writes a file with a temporary one beside it, with their moments.
var writes = []struct {
	name    string
	moments []store.Moment
	write   func(context.Context, *store.Dir) error
}{
	{"write", []store.Moment{store.Created, store.Written, store.Synced}, func(ctx context.Context, d *store.Dir) error {
		_, err := d.Write(ctx, "stacks/dev.json", []byte("2"), store.Condition{})
		return err
	}},
	{"copy", []store.Moment{store.Created, store.Written, store.Synced}, func(ctx context.Context, d *store.Dir) error {
		return d.Copy(ctx, "stacks/dev.json", "stacks/dev.json.bak")
	}},
	{"keep", []store.Moment{store.Linked}, func(ctx context.Context, d *store.Dir) error {
		return d.Keep(ctx, "stacks/dev.json", "stacks/dev.json.bak")
	}},
	{"keep where nobody looks", []store.Moment{store.Linked}, func(ctx context.Context, d *store.Dir) error {
		return d.Keep(ctx, "stacks/dev.json", "quiet/kept")
	}},
}

func eachMoment(t *testing.T, f func(t *testing.T, d *store.Dir, moment store.Moment, write func() error)) {
	for _, w := range writes {
		for _, m := range w.moments {
			t.Run(w.name+", "+string(m), func(t *testing.T) {
				d := store.NewDir(t.TempDir())
				d.KeepTidy("own/tmp", "quiet/")
				_, err := d.Write(t.Context(), "stacks/dev.json", []byte("1"), store.Condition{})
				require.NoError(t, err)
				f(t, d, m, func() error { return w.write(t.Context(), d) })
			})
		}
	}
}

func temporaries(t *testing.T, d *store.Dir) (found []string) {
	require.NoError(t, filepath.WalkDir(d.Path(""), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			found = append(found, filepath.Base(path))
		}
		return err
	}))
	return found
}

// Each process that was killed while it wrote has left a file as large as the state.
func TestWhatIsLeftOfAKilledWriteIsRemoved(t *testing.T) {
	eachMoment(t, func(t *testing.T, d *store.Dir, moment store.Moment, write func() error) {
		d.Crash = func(m store.Moment) error {
			if m == moment {
				return store.ErrKilled
			}
			return nil
		}
		require.ErrorIs(t, write(), store.ErrKilled)
		require.Len(t, temporaries(t, d), 1)
		require.NoError(t, d.Tidy("stacks/dev.", "no such folder/"))
		require.Empty(t, temporaries(t, d))
		b, _, err := d.Read(t.Context(), "stacks/dev.json")
		require.NoError(t, err)
		require.Equal(t, "1", string(b))
	})
}

func TestWhatAProcessIsWritingStays(t *testing.T) {
	eachMoment(t, func(t *testing.T, d *store.Dir, moment store.Moment, write func() error) {
		d.Crash = func(m store.Moment) error {
			if m == moment {
				require.NoError(t, d.Tidy("stacks/dev."))
				require.Len(t, temporaries(t, d), 1)
			}
			return nil
		}
		require.NoError(t, write())
		require.Empty(t, temporaries(t, d))
	})
}

func TestWhatOthersHaveLeftIsNotLookedFor(t *testing.T) {
	d := store.NewDir(t.TempDir())
	d.Crash = func(store.Moment) error { return store.ErrKilled }
	_, err := d.Write(t.Context(), "stacks/other.json", []byte("1"), store.Condition{})
	require.ErrorIs(t, err, store.ErrKilled)
	require.NoError(t, d.Tidy("stacks/dev."))
	require.Len(t, temporaries(t, d), 1)
}
