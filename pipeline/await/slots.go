package await

import (
	"context"
	"sync"

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

// KeyedSlots is a set of [Slots], one for each key in use. It is safe for concurrent use; unused keys take no
// memory.
type KeyedSlots[K comparable] struct {
	max func(K) int

	mu    sync.Mutex // guards byKey and the users in it; never held while waiting
	byKey map[K]*keySlots
}

type keySlots struct {
	*Slots
	users int // holding or waiting
}

// NewKeyedSlots returns max(key) slots for each key; 0 or less means no limit. It calls max whenever a key comes into
// use, and max must not call back into the KeyedSlots.
func NewKeyedSlots[K comparable](max func(K) int) *KeyedSlots[K] {
	return &KeyedSlots[K]{max: max, byKey: make(map[K]*keySlots)}
}

// Acquire takes a slot of key; it waits and fails like [Slots.Acquire].
func (s *KeyedSlots[K]) Acquire(ctx context.Context, key K) error {
	err := s.join(key).Acquire(ctx)
	if err != nil {
		s.leave(key)
	}
	return err
}

// Release gives back a slot of key. It panics if none is taken.
func (s *KeyedSlots[K]) Release(key K) { s.leave(key).Release() }

func (s *KeyedSlots[K]) join(key K) *keySlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.byKey[key]
	if k == nil {
		k = &keySlots{Slots: NewSlots(s.max(key))}
		s.byKey[key] = k
	}
	k.users++
	return k
}

func (s *KeyedSlots[K]) leave(key K) *keySlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.byKey[key]
	if k == nil {
		panic("await: KeyedSlots.Release without Acquire")
	}
	if k.users--; k.users == 0 {
		delete(s.byKey, key)
	}
	return k
}
