package plugin

import (
	"slices"
	"sync"
	"time"
)

// slowCalls finds the first call that is not answered within slowStart. One timer watches all calls, so that a call costs nothing but its place in the
// queue. The zero value is ready; its methods may be called from many goroutines.
type slowCalls struct {
	mu    sync.Mutex // guards the rest
	found bool       // nothing is watched any more
	queue []call     // in the order in which they have begun; those before head are over
	head  int
	begun int         // how many calls have begun before queue[0]
	timer *time.Timer // set while a call is running; nil before the first one
}

// call is a call in the queue.
type call struct {
	subject subject
	since   time.Time
	over    bool
}

// begin begins to watch a call, and returns its number for end. found is called once, from another goroutine, with the first call that is slow; all
// calls have the same one.
func (c *slowCalls) begin(s subject, found func(subject)) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found {
		return 0
	}
	c.queue = append(c.queue, call{subject: s, since: time.Now()})
	switch {
	case c.timer == nil:
		c.timer = time.AfterFunc(slowStart, func() { c.look(found) })
	case c.head == len(c.queue)-1:
		c.timer.Reset(slowStart)
	}
	return c.begun + len(c.queue) - 1
}

// end ends to watch a call.
func (c *slowCalls) end(number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found {
		return
	}
	c.queue[number-c.begun] = call{over: true}
	for c.head < len(c.queue) && c.queue[c.head].over {
		c.head++
	}
	switch {
	case c.head == len(c.queue):
		c.timer.Stop()
	case c.head <= len(c.queue)/2:
		return
	}
	// At least half of the queue is over: to move the rest costs each call one move at the most.
	c.begun += c.head
	c.queue, c.head = slices.Delete(c.queue, 0, c.head), 0
}

// look looks at the oldest call.
func (c *slowCalls) look(found func(subject)) {
	c.mu.Lock()
	if c.found || c.head == len(c.queue) {
		c.mu.Unlock()
		return
	}
	oldest := c.queue[c.head]
	if left := slowStart - time.Since(oldest.since); left > 0 {
		c.timer.Reset(left)
		c.mu.Unlock()
		return
	}
	c.found, c.queue = true, nil
	c.mu.Unlock()
	found(oldest.subject)
}
