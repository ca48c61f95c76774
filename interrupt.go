package sluice

import (
	"sync"
)

// Interrupts stops an operation in an orderly way. The zero value is ready to use; its methods may be
// called from any goroutine, at any time, any number of times.
type Interrupts struct {
	mu       sync.Mutex
	stopped  bool
	canceled bool
	onStop   []func()
	onCancel []func()
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
