// Package commit lets goroutines that wait for their records to be durable share the writes. The caller defines what is
// written, and where.
//
// Its one invariant: [Group.Flush] returns nil for a record only after the success of a write that began after the
// record was added.
package commit

import (
	"errors"
	"sync"
)

// ErrPanicked is the error that waiters get for a write that panicked.
var ErrPanicked = errors.New("the write panicked")

// Group counts records and has them written: the first waiter that finds no write under way writes for all. An error ends
// the group: all waiters, now and later, get it. Its methods must be called with the mutex held.
type Group struct {
	mu      *sync.Mutex
	idle    *sync.Cond // signalled when a write is done
	added   int
	written int
	writing bool
	err     error
}

// New returns a group without records, which mu guards.
func New(mu *sync.Mutex) *Group { return &Group{mu: mu, idle: sync.NewCond(mu)} }

// Batch is one write.
type Batch struct {
	// Write writes. It is called without the mutex.
	Write func() error
	// End is called with the mutex, with the error of Write or [ErrPanicked]. If it returns an error, that ends the group.
	End func(err error) error
}

// Add counts one more record and returns its number, which is 1 for the first.
func (g *Group) Add() int {
	g.added++
	return g.added
}

// Added returns the number of records.
func (g *Group) Added() int { return g.added }

// Err returns the error that has ended the group, or nil.
func (g *Group) Err() error { return g.err }

// Fail ends the group. Only the first error counts.
func (g *Group) Fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// Flush returns when the first n records have been written. take makes the next write, which must contain all records
// added by then; it is called with the mutex held.
func (g *Group) Flush(n int, take func() Batch) error {
	for g.err == nil && g.written < n {
		if g.writing {
			g.idle.Wait()
			continue
		}
		g.write(take)
	}
	return g.err
}

func (g *Group) write(take func() Batch) {
	g.writing = true
	through, err := g.added, ErrPanicked
	var b Batch
	defer func() {
		g.writing = false
		if b.End != nil {
			err = b.End(err)
		}
		if err != nil {
			g.Fail(err)
		} else {
			g.written = through
		}
		g.idle.Broadcast()
	}()
	b = take()
	g.mu.Unlock()
	defer g.mu.Lock()
	err = b.Write()
}

// Wait returns when no write is under way.
func (g *Group) Wait() {
	for g.writing {
		g.idle.Wait()
	}
}
