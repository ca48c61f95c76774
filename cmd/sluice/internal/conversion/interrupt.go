package conversion

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that a signal to end the process cancels, so that plugins end and temporary files are removed.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
