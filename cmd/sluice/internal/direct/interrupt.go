package direct

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"
)

// cancelTimeout is how long a provider may take to answer Cancel (protocol.md 1.13).
const cancelTimeout = 30 * time.Second

// Interruptible calls f, during which signals to end the process cancel calls of the provider. The first one calls cancel, so that the calls end
// soon with what they have done; the second one ends the context of f, without waiting for the provider. note is called with a message at each.
// It reports whether there was a signal.
func Interruptible(ctx context.Context, cancel func(context.Context) error, note func(string), f func(context.Context) error) (interrupted bool, err error) {
	calls, abandon := context.WithCancel(ctx)
	over, end := context.WithCancel(ctx)
	first, forgetFirst := signal.NotifyContext(over, os.Interrupt, syscall.SIGTERM)
	var wg conc.WaitGroup
	wg.Go(func() {
		<-first.Done()
		if over.Err() != nil {
			return
		}
		second, forget := signal.NotifyContext(over, os.Interrupt, syscall.SIGTERM)
		defer forget()
		note(received(first) + "; the provider is asked to abort. Again leaves without waiting for it: what is under way may then still happen.")
		wg.Go(func() {
			asking, done := context.WithTimeout(context.WithoutCancel(calls), cancelTimeout)
			defer done()
			_ = cancel(asking) // the calls report how they end
		})
		<-second.Done()
		if over.Err() == nil {
			note(received(second) + "; leaving without waiting for the provider")
			abandon()
		}
	})
	err = f(calls)
	interrupted = first.Err() != nil
	end()
	forgetFirst()
	wg.Wait()
	abandon()
	return interrupted, err
}

// received names the signal that has ended a context.
func received(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != nil && strings.Contains(cause.Error(), syscall.SIGTERM.String()) {
		return "SIGTERM received"
	}
	return "^C received"
}
