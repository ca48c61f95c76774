package await

import (
	"context"
	"sync"
)

// Mailbox is a queue without bound: Put never blocks, and values leave in the order in which they were put. It is safe
// for concurrent use by any number of goroutines on both sides. Since nothing slows the senders down, use it only where
// something else bounds the number of values.
type Mailbox[T any] struct {
	ready chan struct{} // holds a token while there is something to take; closed by Close

	mu     sync.Mutex // guards the fields below
	items  []T
	first  int // items before it have been taken
	closed bool
}

// NewMailbox returns an empty mailbox.
func NewMailbox[T any]() *Mailbox[T] { return &Mailbox[T]{ready: make(chan struct{}, 1)} }

// Put adds v, and reports whether it was accepted: a closed mailbox accepts nothing.
func (m *Mailbox[T]) Put(v T) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.items = append(m.items, v)
	m.signal()
	return true
}

// Close ends the mailbox: the values in it can still be taken. Calls after the first do nothing.
func (m *Mailbox[T]) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		close(m.ready)
	}
}

// Take returns the oldest value, waiting for one if need be. It returns false when the mailbox is closed and empty, or
// when it is empty and ctx ends; ctx.Err() distinguishes the two.
func (m *Mailbox[T]) Take(ctx context.Context) (T, bool) {
	for {
		v, state := m.poll()
		switch state {
		case taken:
			return v, true
		case closedForGood:
			return v, false
		}
		select {
		case <-m.ready:
		case <-ctx.Done():
			return v, false
		}
	}
}

// TryTake returns the oldest value if there is one. It never waits.
func (m *Mailbox[T]) TryTake() (T, bool) {
	v, state := m.poll()
	return v, state == taken
}

// Ready receives when there may be something to take, and whenever the mailbox is closed. It is for package pipeline,
// which waits for several things at once: a receiver must call TryTake until that finds nothing, or until it needs no
// more. Others use Take.
func (m *Mailbox[T]) Ready() <-chan struct{} { return m.ready }

type mailState int

const (
	empty mailState = iota
	taken
	closedForGood
)

// poll takes a value if there is one.
func (m *Mailbox[T]) poll() (v T, state mailState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == len(m.items) {
		if m.closed {
			return v, closedForGood
		}
		return v, empty
	}
	var zero T
	v, m.items[m.first] = m.items[m.first], zero
	m.first++
	m.compact()
	if m.first < len(m.items) && !m.closed {
		m.signal() // one token stands for all values: pass it on
	}
	return v, taken
}

// compact frees the space of taken values, at a cost that is constant per value.
func (m *Mailbox[T]) compact() {
	if m.first == len(m.items) {
		m.items, m.first = m.items[:0], 0
		return
	}
	if m.first < 64 || m.first < len(m.items)/2 {
		return
	}
	n := copy(m.items, m.items[m.first:])
	clear(m.items[n:])
	m.items, m.first = m.items[:n], 0
}

func (m *Mailbox[T]) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}
