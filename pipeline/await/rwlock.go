package await

import (
	"context"
	"math"

	"golang.org/x/sync/semaphore"
)

// RWLock is a lock that any number of goroutines hold for reading, or one goroutine for writing. A goroutine that waits for writing comes before those
// that begin to wait for reading later. Use it in place of [sync.RWMutex] where the lock is held while something waits: package synctest takes
// a goroutine that waits for a mutex for a running one, and its clock stands still.
type RWLock struct{ held *semaphore.Weighted }

// NewRWLock returns a lock that nothing holds.
func NewRWLock() *RWLock { return &RWLock{held: semaphore.NewWeighted(math.MaxInt64)} }

// RLock locks for reading.
func (l *RWLock) RLock() { _ = l.held.Acquire(context.Background(), 1) }

// RUnlock ends the effect of one RLock.
func (l *RWLock) RUnlock() { l.held.Release(1) }

// Lock locks for writing.
func (l *RWLock) Lock() { _ = l.held.Acquire(context.Background(), math.MaxInt64) }

// TryLock locks for writing if nothing holds the lock or waits for it, and reports whether it did.
func (l *RWLock) TryLock() bool { return l.held.TryAcquire(math.MaxInt64) }

// Unlock ends the effect of Lock.
func (l *RWLock) Unlock() { l.held.Release(math.MaxInt64) }
