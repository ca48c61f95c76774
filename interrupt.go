package sluice

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Interrupts pauses and stops an operation in an orderly way. The zero value is ready to use; its methods may be
// called from any goroutine, at any time, any number of times.
type Interrupts struct {
	mu       sync.Mutex
	stopped  bool
	canceled bool
	onStop   []func()
	onCancel []func()
	resumed  *await.Event // fires at the end of the pause; nil if there is none
}

// Pause keeps further steps from beginning until Resume is called; running ones go on. Stop ends a paused operation, too.
func (i *Interrupts) Pause() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.resumed == nil {
		i.resumed = await.NewEvent()
	}
}

// Resume ends a pause.
func (i *Interrupts) Resume() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.resumed != nil {
		i.resumed.Fire()
		i.resumed = nil
	}
}

// Paused reports whether Pause has been called, and Resume not since.
func (i *Interrupts) Paused() bool { return i.pause() != nil }

func (i *Interrupts) pause() *await.Event {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.resumed
}

// admit waits until there is no pause, or ctx ends.
func (i *Interrupts) admit(ctx context.Context) error {
	for {
		resumed := i.pause()
		if resumed == nil {
			return nil
		}
		if err := resumed.Wait(ctx); err != nil {
			return err
		}
	}
}

// Stop ends admission: no further operation starts, running ones finish and are recorded.
func (i *Interrupts) Stop() { i.fire(&i.stopped, &i.onStop) }

// Cancel asks the providers to abort what they are doing, and ends the program. It implies Stop.
func (i *Interrupts) Cancel() {
	i.Stop()
	i.fire(&i.canceled, &i.onCancel)
}

// Stopped reports whether Stop has been called.
func (i *Interrupts) Stopped() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

func (i *Interrupts) fire(done *bool, callbacks *[]func()) {
	i.mu.Lock()
	if *done {
		i.mu.Unlock()
		return
	}
	*done = true
	fs := *callbacks
	i.mu.Unlock()
	for _, f := range fs {
		f()
	}
}

// watch arranges for stop and cancel to be called on an interrupt, at once if it has happened already.
func (i *Interrupts) watch(stop, cancel func()) {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.onStop = append(i.onStop, stop)
	i.onCancel = append(i.onCancel, cancel)
	stopped, canceled := i.stopped, i.canceled
	i.mu.Unlock()
	if stopped {
		stop()
	}
	if canceled {
		cancel()
	}
}
