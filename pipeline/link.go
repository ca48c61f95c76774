package pipeline

import "sync/atomic"

// link carries items from one step to the next. The sending step alone makes and closes it, and the receiving step
// always reads it until it is closed, so that the items in it when the run ends are rejected.
type link[T any] struct {
	from *node
	ch   chan parcel[T]
	sent atomic.Int64
	// turn holds the token of the one worker that waits for room; nil for a step with so few workers that all may wait.
	turn chan struct{}
}

// parcel is an item with its number among those handed to the link.
type parcel[T any] struct {
	value   T
	arrival rank
}

func newLink[T any](from *node, buffer int) *link[T] {
	return &link[T]{from: from, ch: make(chan parcel[T], buffer)}
}

// send is the link's Emit.
func (l *link[T]) send(v T) error {
	arrival := l.sent.Add(1)
	// Check this first, so that a run that is over accepts nothing even where there is room.
	if l.from.run.isOver() {
		return l.refuse(v)
	}
	p := parcel[T]{value: v, arrival: arrival}
	select {
	case l.ch <- p:
		return nil
	default: // most links have room, and waiting for two things at once costs more
	}
	if !l.takeTurn() {
		return l.refuse(v)
	}
	defer l.endTurn()
	select {
	case l.ch <- p:
		return nil
	case <-l.from.run.done:
		return l.refuse(v)
	}
}

// takeTurn waits until no other worker waits for room. It returns false when the run is over.
func (l *link[T]) takeTurn() bool {
	if l.turn == nil {
		return true
	}
	select {
	case l.turn <- struct{}{}:
		return true
	case <-l.from.run.done:
		return false
	}
}

func (l *link[T]) endTurn() {
	if l.turn != nil {
		<-l.turn
	}
}

func (l *link[T]) refuse(v T) error {
	reject(l.from, v, l.from.stopped())
	return ErrStopped
}

func (l *link[T]) receive() (parcel[T], bool) {
	p, ok := <-l.ch
	return p, ok
}
