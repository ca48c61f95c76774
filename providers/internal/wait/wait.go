// Package wait lets calls of providers take time.
package wait

import (
	"context"
	"time"
)

// For returns after d, or with the context's cause when it ends before.
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
