package store

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// After another process has recovered and removed a log, the process that made it must not remove the next one.
func TestLogOfAnotherProcessIsNotRemoved(t *testing.T) {
	ctx := context.Background()
	dir := NewDir(t.TempDir())
	for name, s := range map[string]Store{"file": dir, "segments": struct{ Store }{dir}} {
		t.Run(name, func(t *testing.T) {
			key := strings.ToLower(name) + "/dev.jnl"
			first := NewLog(s, key)
			require.NoError(t, first.Create(ctx, []byte("first")))
			other := NewLog(s, key)
			b, err := other.Read(ctx)
			require.NoError(t, err)
			require.Equal(t, "first", string(b))
			require.NoError(t, other.Remove(ctx))

			second := NewLog(s, key)
			require.NoError(t, second.Create(ctx, []byte("second")))
			require.NoError(t, first.Remove(ctx))
			b, err = NewLog(s, key).Read(ctx)
			require.NoError(t, err)
			require.Equal(t, "second", string(b))
			require.NoError(t, second.Remove(ctx))
			b, err = NewLog(s, key).Read(ctx)
			require.NoError(t, err)
			require.Nil(t, b)
		})
	}
}

// A request of a dead process can arrive after another process has begun a log. Neither is lost.
func TestSegmentThatArrivesLateTakesNothingAway(t *testing.T) {
	ctx := context.Background()
	s := struct{ Store }{NewDir(t.TempDir())}
	log := NewLog(s, "dev.jnl")
	require.NoError(t, log.Create(ctx, []byte("a")))
	for _, run := range []string{"0", "z"} {
		_, err := s.Write(ctx, "dev/"+run+"/000000000001.seg", []byte(run), New())
		require.NoError(t, err)
	}
	require.NoError(t, log.Append(ctx, []byte("b")))
	_, err := s.Write(ctx, "dev/"+log.(*segmentLog).run+"/000000000002.seg", []byte("late"), New())
	require.ErrorIs(t, err, ErrConflict)
	found := map[string]bool{}
	for range 3 {
		next := NewLog(s, "dev.jnl")
		b, err := next.Read(ctx)
		require.NoError(t, err)
		found[string(b)] = true
		require.NoError(t, next.Remove(ctx))
	}
	require.Equal(t, map[string]bool{"0": true, "z": true, "ab": true}, found)
	there, err := log.Exists(ctx)
	require.NoError(t, err)
	require.False(t, there)
}
