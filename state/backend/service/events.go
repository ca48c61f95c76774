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

// How events are sent: eventBatch at once, or those of eventDelay after the first, in eventCalls calls at the same time. Events are
// numbered, so the order of the calls does not matter. At most eventsToWait events wait to be sent; beyond that the engine waits.
const (
	eventBatch   = 100
	eventDelay   = time.Second
	eventCalls   = 3
	eventsToWait = 4000
)

// events sends the events of an operation to the service. A service that refuses them misses them: they are only for display.
type events struct {
	run  *run
	ctx  context.Context
	part []byte // of an incomplete line
	box  *await.Mailbox[json.RawMessage]
	room *await.Slots
	work conc.WaitGroup

	mu     sync.Mutex // guards missed
	missed bool       // the service refuses them
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

// send sends events until the box is closed and empty.
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

// save sends events, unless the service refused some before.
func (e *events) save(ctx context.Context, all []json.RawMessage) {
	e.mu.Lock()
	missed := e.missed
	e.mu.Unlock()
	if missed {
		return
	}
	err := e.run.stack.subject.backend.client.SaveEvents(ctx, e.run.lease, all)
	if err == nil || ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	first := !e.missed
	e.missed = true
	e.mu.Unlock()
	e.run.refused(err)
	if first {
		e.run.stack.subject.backend.note("the service does not show the other events of this operation: %v", err)
	}
}

// fill adds the waiting events, and those of the next while, until there is a full batch.
func (e *events) fill(ctx context.Context, all []json.RawMessage) []json.RawMessage {
	const pause = eventDelay / 20
	for left := eventDelay; ; left -= pause {
		closed := e.isClosed() // checked first: events before the end are still taken
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

// isClosed reports whether no more events will come.
func (e *events) isClosed() bool {
	e.run.mu.Lock()
	defer e.run.mu.Unlock()
	return e.run.ended
}

// close waits until everything is sent.
func (e *events) close() {
	e.box.Close()
	e.work.Wait()
}
