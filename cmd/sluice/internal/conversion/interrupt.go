package conversion

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible returns a context that ends with a signal that asks this process to end, so that plugins are ended and temporary
// files are removed.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
