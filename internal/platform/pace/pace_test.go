package pace

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// dripping sends n bytes at a time, with a pause before each of them, until it is stopped.
type dripping struct {
	n, left int
	pause   time.Duration
	stopped error
}

func (d *dripping) Read(p []byte) (int, error) {
	time.Sleep(d.pause)
	switch {
	case d.stopped != nil:
		return 0, errors.New("use of a closed connection")
	case d.left == 0:
		return 0, io.EOF
	}
	n := min(d.n, d.left, len(p))
	d.left -= n
	return n, nil
}

func (d *dripping) Close() error { return nil }

func TestWhatHardlyMovesIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dripping{n: 1, left: 1 << 20, pause: time.Second}
		began := time.Now()
		body := Body(d, Slowest, func(err error) { d.stopped = err })
		_, err := io.ReadAll(body)
		var slow *SlowError
		require.ErrorAs(t, err, &slow)
		require.InDelta(t, 30, slow.Moved, 1) // the last one comes at the moment when the window is over
		require.InDelta(t, 30, time.Since(began).Seconds(), 1)
		require.NoError(t, body.Close())
	})
}

func TestWhatIsLargeMayBeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dripping{n: 2 << 10, left: 64 << 20, pause: 10 * time.Second} // for three days
		body := Body(d, Slowest, func(err error) { d.stopped = err })
		n, err := io.Copy(io.Discard, body)
		require.NoError(t, err)
		require.Equal(t, int64(64<<20), n)
		require.NoError(t, body.Close())
	})
}

func TestErrorsOfOthersStay(t *testing.T) {
	body := Body(io.NopCloser(io.MultiReader(strings.NewReader("x"), iotest.ErrReader(io.ErrUnexpectedEOF))), Slowest, func(error) {})
	_, err := io.ReadAll(body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, body.Close())
}
