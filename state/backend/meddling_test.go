package backend

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/objects"
)

// meddled is a store in which another process writes right after the stack file has been read.
type meddled struct {
	store.Store
	write func() // nil for no write
}

func (m *meddled) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	b, i, err := m.Store.Read(ctx, key)
	if write := m.write; write != nil && strings.HasSuffix(key, "dev.json") {
		m.write = nil
		write()
	}
	return b, i, err
}

func TestWhatSomebodyWritesWhileARunBeginsIsNotWrittenOver(t *testing.T) {
	ctx := context.Background()
	m := &meddled{Store: objects.New(memblob.OpenBucket(nil), objects.Options{URL: "mem://states"})}
	b, err := openFile(ctx, Options{
		URL: "mem://states", Project: "shop", Version: "sluice/test",
		Stores: map[string]store.Opener{"mem": func(context.Context, string, func(string) (string, bool)) (store.Store, error) { return m, nil }},
	})
	require.NoError(t, err)
	s, err := b.Init(ctx, Ref{Project: "shop", Name: "dev"}, nil)
	require.NoError(t, err)
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	defer l.Close()
	base, err := s.Load(ctx)
	require.NoError(t, err)
	theirs, err := s.(*fileStack).encode(ctx, snapshotOf(thing("theirs")))
	require.NoError(t, err)
	m.write = func() {
		_, err := m.Store.Write(ctx, stackFile, theirs, store.Condition{})
		require.NoError(t, err)
	}
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	ours := thing("ours")
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: ours}))
	require.NoError(t, r.End(ctx, state.Change{Begun: ours, Add: ours}))
	require.ErrorContains(t, r.Close(ctx), "written by somebody else")
	now, err := s.Load(ctx)
	require.NoError(t, err)
	require.Len(t, now.Resources, 1)
	require.Equal(t, "theirs", now.Resources[0].ID)
}

func TestOnlyLocksThatWereLookedAtAreRemoved(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	held, err := s.Locks(ctx)
	require.NoError(t, err)
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	n, err := s.BreakLocks(ctx, held)
	require.NoError(t, err)
	require.Zero(t, n)
	held, err = s.Locks(ctx)
	require.NoError(t, err)
	require.Len(t, held, 1)
	require.NoError(t, l.Close())
}

// What whoever has the lock now has begun is no reason to speak of the lock that was removed.
func TestALockThatSomebodyHasRemovedIsClosedInSilence(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	removed, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	held, err := s.Locks(ctx)
	require.NoError(t, err)
	_, err = s.BreakLocks(ctx, held)
	require.NoError(t, err)

	other, err := f.open().Open(ctx, Ref{Project: "shop", Name: "dev"})
	require.NoError(t, err)
	l, err := other.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	base, err := other.Load(ctx)
	require.NoError(t, err)
	r, err := other.Record(ctx, base)
	require.NoError(t, err)
	made := thing("made")
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: made}))
	require.NoError(t, removed.Close())
	require.NoError(t, r.End(ctx, state.Change{Begun: made, Add: made}))
	require.NoError(t, r.Close(ctx))
	require.NoError(t, l.Close())
}

// Tags have no lock: what another process does while they are edited counts.
func TestAnEditOfTagsLosesNoOther(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct{ before, ours, theirs, want map[string]string }{
		"a tag is added while the last one goes": {
			before: map[string]string{"a": "1"}, ours: map[string]string{"a": ""}, theirs: map[string]string{"b": "2"}, want: map[string]string{"b": "2"},
		},
		"the last one goes while a tag is added": {
			before: map[string]string{"a": "1"}, ours: map[string]string{"b": "2"}, theirs: map[string]string{"a": ""}, want: map[string]string{"b": "2"},
		},
		"both add the first one": {
			ours: map[string]string{"a": "1"}, theirs: map[string]string{"b": "2"}, want: map[string]string{"a": "1", "b": "2"},
		},
		"nobody has tags": {ours: map[string]string{"a": ""}, want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			s := f.init(f.open(), "dev")
			edit := func(change map[string]string, meanwhile func()) {
				require.NoError(t, s.EditTags(ctx, func(tags map[string]string) {
					meanwhile()
					for name, value := range change {
						if tags[name] = value; value == "" {
							delete(tags, name)
						}
					}
				}))
			}
			edit(c.before, func() {})
			var once sync.Once
			edit(c.ours, func() { once.Do(func() { edit(c.theirs, func() {}) }) })
			tags, err := s.Tags(ctx)
			require.NoError(t, err)
			require.Equal(t, c.want, tags)
		})
	}
}
