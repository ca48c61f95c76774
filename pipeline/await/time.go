package await

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends. Then it returns the cause of ctx.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
