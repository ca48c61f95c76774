package await

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Slots is a counting semaphore whose waiters are served in turn. It is safe for concurrent use.
type Slots struct {
	taken *semaphore.Weighted // nil means no limit
}

// NewSlots returns n free slots. 0 or less means no limit.
func NewSlots(n int) *Slots {
	if n <= 0 {
		return &Slots{}
	}
	return &Slots{taken: semaphore.NewWeighted(int64(n))}
}

// Acquire takes a slot, waiting for one if need be. It returns the cause of ctx if that ended first; then no slot is
// taken. A context that is already done gets no slot even if one is free.
func (s *Slots) Acquire(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.taken == nil {
		return nil
	}
	if s.taken.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Release gives a slot back. It panics if none is taken.
func (s *Slots) Release() {
	if s.taken != nil {
		s.taken.Release(1)
	}
}
