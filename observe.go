package sluice

import (
	"context"

	"github.com/sourcegraph/conc"

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
	failure *await.Promise[struct{}] // fails when the observer has panicked, or has not returned
}

// NewBufferedObserver returns an observer that calls observe. size is the number of events that may wait, at least one. Close must
// be called.
func NewBufferedObserver(size int, observe func(stages.Event)) *BufferedObserver {
	b := &BufferedObserver{
		room: await.NewSlots(max(size, 1)), events: await.NewMailbox[stages.Event](), failure: await.NewPromise[struct{}](),
	}
	b.worker.Go(func() { b.pass(observe) })
	return b
}

// pass passes events to the observer until there are no more. If the observer leaves the goroutine, another one takes the rest.
func (b *BufferedObserver) pass(observe func(stages.Event)) {
	ended := false
	defer func() {
		if !ended {
			b.worker.Go(func() { b.pass(observe) })
		}
	}()
	for e, ok := b.events.Take(context.Background()); ok; e, ok = b.events.Take(context.Background()) {
		pipeline.Attempt(func() error {
			if !b.failure.Decided() {
				observe(e)
			}
			return nil
		}, func(err error) {
			if err != nil {
				b.failure.Fail(err)
			}
			b.room.Release()
		})
	}
	ended = true
}

// Observe is for [Options.Observe]. If the observer has panicked or has not returned, it panics, which stops the operation. After Close events are
// dropped.
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

// Close waits until the observer has had all events. It returns an error if the observer has panicked or has not returned. It may be called more than once.
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
