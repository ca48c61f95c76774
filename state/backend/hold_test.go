package backend

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
)

func creating(id string) state.Pending {
	return state.Pending{Type: state.Creating, Resource: thing(id)}
}

func TestAStackIsRecordedOnlyUnderItsLock(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	base, err := s.Load(ctx)
	require.NoError(t, err)
	before := f.files()

	var notLocked *NotLockedError
	_, err = s.Record(ctx, base)
	require.ErrorAs(t, err, &notLocked)
	require.Equal(t, NotLockedError{Ref: s.Ref()}, *notLocked)
	require.ErrorContains(t, err, "dev is not locked")
	require.ErrorContains(t, err, "host.Locked")

	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	other, err := b.Open(ctx, s.Ref())
	require.NoError(t, err)
	_, err = other.Record(ctx, base)
	require.ErrorAs(t, err, &notLocked, "the lock belongs to another handle")
	r, err := s.WithSecrets(secrets.Plain{}).Record(ctx, base)
	require.NoError(t, err, "this is the same handle")
	require.NoError(t, r.Close(ctx))
	require.NoError(t, l.Close())
	_, err = s.Record(ctx, base)
	require.ErrorAs(t, err, &notLocked)
	require.Subset(t, append(before, stackFile+".bak"), f.files())
}

func TestAStackIsRecordedByOneOperationAtATime(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	first, err := s.Record(ctx, base)
	require.NoError(t, err)
	var recording *RecordingError
	_, err = s.Record(ctx, base)
	require.ErrorAs(t, err, &recording)
	require.ErrorContains(t, err, "dev is being recorded by another operation")
	require.NoError(t, first.End(ctx, state.Change{Add: thing("a")}))
	require.NoError(t, first.Close(ctx))

	// A recording that could not begin blocks nothing.
	_, err = s.Record(ctx, base)
	require.ErrorContains(t, err, "written by somebody else")
	base, err = s.Load(ctx)
	require.NoError(t, err)
	second, err := s.Record(ctx, base)
	require.NoError(t, err)
	require.NoError(t, second.Close(ctx))
	third, err := s.Record(ctx, mustLoad(t, s))
	require.NoError(t, err)
	require.NoError(t, second.Close(ctx), "closing again does not end the recording of another one")
	_, err = s.Record(ctx, base)
	require.ErrorAs(t, err, &recording)
	require.NoError(t, third.Close(ctx))
	require.NoError(t, l.Close())
}

func mustLoad(t testing.TB, s Stack) *state.Snapshot {
	t.Helper()
	snapshot, err := s.Load(context.Background())
	require.NoError(t, err)
	return snapshot
}

// An operation that has begun may have made an object, so its end is recorded whoever holds the lock by then.
func TestARecordingWithoutItsLockBeginsNothingMore(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		lose func(f *fixture, l Lock, lost *await.Event)
		is   func(error) bool
	}{
		"released": {
			func(_ *fixture, l Lock, _ *await.Event) { _ = l.Close() }, // it is kept, as the journal is needed
			func(err error) bool {
				var e *NotLockedError
				return errors.As(err, &e) && e.Released
			},
		},
		"lost": {
			func(f *fixture, l Lock, lost *await.Event) {
				require.NoError(f, os.Remove(l.(*ownLock).Path()))
				require.NoError(f, lost.Wait(ctx))
			},
			func(err error) bool { return errors.As(err, new(*lock.LostError)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := f.open()
			b.storage.every = 5 * time.Millisecond
			s := f.init(b, "dev")
			lost := await.NewEvent()
			l, err := s.Lock(ctx, LockOptions{OnLost: func(error) { lost.Fire() }})
			require.NoError(t, err)
			r, err := s.Record(ctx, mustLoad(t, s))
			require.NoError(t, err)
			a := creating("a")
			require.NoError(t, r.Begin(ctx, a))
			c.lose(f, l, lost)
			require.True(t, c.is(r.Begin(ctx, creating("b"))))
			require.True(t, c.is(r.Rebase(ctx, mustLoad(t, s))))
			require.NoError(t, r.End(ctx, state.Change{Begun: a.Resource, Add: a.Resource}))
			require.NoError(t, r.Close(ctx))
			require.Len(t, mustLoad(t, s).Resources, 1)
			_ = l.Close()
		})
	}
}

func TestALockedStateIsLoadedOnce(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	require.NotSame(t, mustLoad(t, s), mustLoad(t, s), "without a lock anybody may change it")
	l, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	first := mustLoad(t, s)
	require.Same(t, first, mustLoad(t, s))
	require.NotSame(t, first, mustLoad(t, s.Readable()), "which opens other secrets")

	first = mustLoad(t, s)
	r, err := s.Record(ctx, first)
	require.NoError(t, err)
	require.NoError(t, r.End(ctx, state.Change{Add: thing("a")}))
	require.NoError(t, r.Close(ctx))
	second := mustLoad(t, s)
	require.Len(t, second.Resources, len(first.Resources)+1)

	path := s.File(ctx)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(content, []byte("::a"), []byte("::b")), 0o600))
	require.NotSame(t, second, mustLoad(t, s), "somebody has written the file in spite of the lock")

	require.NoError(t, l.Close())
	require.NotSame(t, mustLoad(t, s), mustLoad(t, s))
}
