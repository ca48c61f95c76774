package sluice

import (
	"context"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
)

// BufferedObserver passes events to a slow observer, such as one that writes to a network, while the operation goes on. One
// goroutine calls the observer, with one event at a time, in their order. No event is dropped: when the buffer is full, the
// operation waits.
//
//	slow := sluice.NewBufferedObserver(1000, send)
//	options.Observe = slow.Observe
//	result, err := sluice.Update(ctx, options)
//	err = errors.Join(err, slow.Close())
//
// Its methods may be called from any goroutine.
type BufferedObserver struct {
	room    *await.Slots
	events  *await.Mailbox[stages.Event] // room bounds it
	worker  conc.WaitGroup
	failure *await.Promise[struct{}] // fails when the observer has panicked
}

// NewBufferedObserver returns an observer that calls observe. size is the number of events that may wait, at least one. Close must
// be called.
func NewBufferedObserver(size int, observe func(stages.Event)) *BufferedObserver {
	b := &BufferedObserver{
		room: await.NewSlots(max(size, 1)), events: await.NewMailbox[stages.Event](), failure: await.NewPromise[struct{}](),
	}
	b.worker.Go(func() {
		for {
			e, ok := b.events.Take(context.Background())
			if !ok {
				return
			}
			if !b.failure.Decided() {
				if p := panics.Try(func() { observe(e) }); p != nil {
					b.failure.Fail(&pipeline.PanicError{Value: p.Value, Stack: p.Stack})
				}
			}
			b.room.Release()
		}
	})
	return b
}

// Observe is for [Options.Observe]. If the observer has panicked, it panics, too, which stops the operation. After Close events are dropped.
func (b *BufferedObserver) Observe(e stages.Event) {
	_ = b.room.Acquire(context.Background()) // which does not end
	if b.failure.Decided() {
		b.room.Release()
		panic(b.failed())
	}
	if !b.events.Put(e) {
		b.room.Release()
	}
}

// Close waits until the observer has had all events. It returns an error if the observer has panicked. It may be called more than once.
func (b *BufferedObserver) Close() error {
	b.events.Close()
	b.worker.Wait()
	if !b.failure.Decided() {
		return nil
	}
	return b.failed()
}

func (b *BufferedObserver) failed() error {
	_, err := b.failure.Wait(context.Background()) // it is already decided
	return err
}
