//go:build unix

package terminal

import (
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

// A process whose controlling terminal is another one gets no signal when its terminal goes away: its input ends.
func TestAQuestionEndsWithItsTerminal(t *testing.T) {
	screen, tty, err := pty.Open()
	require.NoError(t, err)
	defer func() { _ = tty.Close() }()
	nothing := func(string) (string, bool) { return "", false }
	on := New(Streams{In: tty, Out: tty, Err: tty, InTerminal: true, OutTerminal: true, Lookup: nothing})
	var user conc.WaitGroup
	defer user.Wait()
	user.Go(func() {
		_, _ = screen.Read(make([]byte, 64)) // the question is being drawn
		_ = screen.Close()
	})
	watchdog := time.AfterFunc(time.Minute, func() { panic("the question does not end") })
	defer watchdog.Stop()
	_, err = Choose(t.Context(), on, "Which one?", []string{"yes", "no"}, 1)
	require.ErrorIs(t, err, ErrInterrupted)
}
