//go:build unix

package terminal

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

// A process whose controlling terminal is another one gets no signal when its terminal goes away: its input ends. Another process may get the signal
// later than the end of its input: it must not be killed then.
func TestAQuestionEndsWithItsTerminal(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *Terminal) error{
		"drawn": func(ctx context.Context, on *Terminal) error {
			_, err := Choose(ctx, on, "Which one?", []string{"yes", "no"}, 1)
			return err
		},
		"a line": func(ctx context.Context, on *Terminal) error {
			_, err := on.Ask(ctx, "Which one? ")
			return err
		},
		"a hidden line": func(ctx context.Context, on *Terminal) error {
			_, err := on.AskHidden(ctx, "Which one? ")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
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
			require.ErrorIs(t, ask(t.Context(), on), ErrInterrupted)
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		})
	}
}
