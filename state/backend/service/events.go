package service

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// How events are sent: as many as this at once, when as many have come or so long after the first, in so many calls at the same time: events are
// numbered, so their order is not that of the calls. So many may wait: then whoever emits them waits, too.
const (
	eventBatch   = 100
	eventDelay   = time.Second
	eventCalls   = 3
	eventsToWait = 4000
)

// events sends the events of an operation to the service. A service that does not take them misses them: they are for looking at.
type events struct {
	run  *run
	ctx  context.Context
	part []byte // of a line that is not whole
	box  *await.Mailbox[json.RawMessage]
	room *await.Slots
	work conc.WaitGroup

	mu     sync.Mutex // guards missed
	missed bool       // the service does not take them
}

func newEvents(ctx context.Context, r *run) *events {
	e := &events{run: r, ctx: ctx, box: await.NewMailbox[json.RawMessage](), room: await.NewSlots(eventsToWait)}
	e.work.Go(func() { e.send(ctx) })
	return e
}

// Write takes lines of JSON, each an event. One goroutine at a time calls it.
func (e *events) Write(p []byte) (int, error) {
	e.part = append(e.part, p...)
	for {
		line, rest, whole := bytes.Cut(e.part, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if len(bytes.TrimSpace(line)) > 0 && e.room.Acquire(e.ctx) == nil && !e.box.Put(bytes.Clone(line)) {
			e.room.Release() // the operation has ended
		}
		e.part = bytes.Clone(rest)
	}
}

// send sends what comes until the box is closed and empty.
func (e *events) send(ctx context.Context) {
	var calls conc.WaitGroup
	defer calls.Wait()
	turns := await.NewSlots(eventCalls)
	for {
		first, more := e.box.Take(ctx)
		if !more {
			return
		}
		all := e.fill(ctx, []json.RawMessage{first})
		if turns.Acquire(ctx) != nil {
			return
		}
		calls.Go(func() {
			defer turns.Release()
			e.save(ctx, all)
			for range all {
				e.room.Release()
			}
		})
	}
}

// save sends events, unless the service did not take some before.
func (e *events) save(ctx context.Context, all []json.RawMessage) {
	e.mu.Lock()
	missed := e.missed
	e.mu.Unlock()
	if missed {
		return
	}
	err := e.run.stack.backend.client.SaveEvents(ctx, e.run.lease, all)
	if err == nil || ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	first := !e.missed
	e.missed = true
	e.mu.Unlock()
	e.run.refused(err)
	if first {
		e.run.stack.backend.note("the service does not show the rest of what happens in this operation: %v", err)
	}
}

// fill adds what has come, and what comes in a while, until that is a batch.
func (e *events) fill(ctx context.Context, all []json.RawMessage) []json.RawMessage {
	const pause = eventDelay / 20
	for left := eventDelay; ; left -= pause {
		closed := e.isClosed() // asked first: what comes before the end is still taken
		for len(all) < eventBatch {
			next, there := e.box.TryTake()
			if !there {
				break
			}
			all = append(all, next)
		}
		if closed || left <= 0 || len(all) == eventBatch || await.For(ctx, pause) != nil {
			return all
		}
	}
}

// isClosed reports whether no more events come.
func (e *events) isClosed() bool {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	return e.run.ended
}

// close waits until everything is sent.
func (e *events) close(context.Context) {
	e.box.Close()
	e.work.Wait()
}
