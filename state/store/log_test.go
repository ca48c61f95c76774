package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// watched counts the contents that are read, also at the same time. Each read takes a second of a synctest bubble.
type watched struct {
	Store
	fail map[string]error // by the end of the key

	mu        sync.Mutex // guards the fields below
	reads     int
	now, most int
}

func (w *watched) Read(ctx context.Context, key string) ([]byte, Info, error) {
	w.mu.Lock()
	w.reads++
	w.now++
	w.most = max(w.most, w.now)
	w.mu.Unlock()
	time.Sleep(time.Second)
	w.mu.Lock()
	w.now--
	w.mu.Unlock()
	for end, err := range w.fail {
		if strings.HasSuffix(key, end) {
			return nil, Info{}, err
		}
	}
	return w.Store.Read(ctx, key)
}

func TestSegmentsAreReadAtOnceAndInOrder(t *testing.T) {
	first, second := errors.New("the first one cannot be read"), errors.New("nor the second one")
	for name, c := range map[string]struct {
		fail map[string]error
		want error
		most int // reads
	}{
		"all can be read":  {most: 100},
		"two cannot":       {map[string]error{"/000000000005.seg": second, "/000000000003.seg": first}, first, 2 * Requests},
		"the last of many": {map[string]error{"/000000000100.seg": second}, second, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &watched{Store: NewDir(t.TempDir()), fail: c.fail}
				log, whole := NewLog(s, "dev.jnl"), ""
				for n := range 100 {
					text := fmt.Sprintf("segment %d. ", n+1)
					whole += text
					if n == 0 {
						require.NoError(t, log.Create(t.Context(), []byte(text)))
					} else {
						require.NoError(t, log.Append(t.Context(), []byte(text)))
					}
				}
				b, err := NewLog(s, "dev.jnl").Read(t.Context())
				require.ErrorIs(t, err, c.want)
				require.Equal(t, Requests, s.most)
				require.LessOrEqual(t, s.reads, c.most)
				if c.want != nil {
					return
				}
				require.Equal(t, whole, string(b))
				s.most = 0
				require.NoError(t, NewLog(s, "dev.jnl").Truncate(t.Context(), int64(len(whole)-5)))
				require.Equal(t, Requests, s.most)
				b, err = NewLog(s, "dev.jnl").Read(t.Context())
				require.NoError(t, err)
				require.Equal(t, whole[:len(whole)-5], string(b))
			})
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
