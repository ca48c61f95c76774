package sluice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// ErrInterrupted is the cause of a [FailedError] if [Interrupts] have stopped the operation.
var ErrInterrupted = errors.New("interrupted")

// errStoppedBefore is ErrInterrupted for an operation that has not begun anything.
var errStoppedBefore = fmt.Errorf("%w before the operation began: its Interrupts had been stopped; for another operation, call Reset or make new ones", ErrInterrupted)

// Interrupts pauses and stops operations in an orderly way. The zero value is ready to use; its methods may be
// called from any goroutine, at any time, any number of times.
//
// Stop and Cancel apply to running operations and to those that begin later, so that an interrupt between a preview and its update
// has an effect. An operation that is stopped before it begins fails with a [FailedError] that wraps [ErrInterrupted]. Reset makes
// stopped Interrupts usable again.
type Interrupts struct {
	mu       sync.Mutex // guards the rest
	stopped  bool
	canceled bool
	sessions []*session   // the operations that are under way
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

// Stop ends admission: no further step starts, running ones finish and are recorded.
func (i *Interrupts) Stop() {
	for _, s := range i.set(&i.stopped) {
		s.stop()
	}
}

// Cancel asks the providers to abort their running calls, by [providers.Provider].Cancel, and ends the program. It implies Stop. The context of a
// call that changes something does not end, because its outcome has to be recorded: the operation waits until the call returns.
func (i *Interrupts) Cancel() {
	i.Stop()
	for _, s := range i.set(&i.canceled) {
		s.cancel()
	}
}

// Stopped reports whether Stop has been called, and Reset not since.
func (i *Interrupts) Stopped() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// Reset undoes Stop and Cancel for operations that begin later. Stopped operations stay stopped, and a pause goes on.
func (i *Interrupts) Reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped, i.canceled = false, false
}

// set sets a flag, and returns the operations that are under way.
func (i *Interrupts) set(what *bool) []*session {
	i.mu.Lock()
	defer i.mu.Unlock()
	*what = true
	return slices.Clone(i.sessions)
}

// session connects one operation with its interrupts; nil if it has none.
type session struct {
	of     *Interrupts
	before bool // it was stopped before it began

	mu       sync.Mutex // guards the rest
	stopped  bool
	canceled bool
	onStop   []func()
	onCancel []func()
}

// begin returns the session of an operation. end must be called.
func (i *Interrupts) begin() *session {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	s := &session{of: i, before: i.stopped, stopped: i.stopped, canceled: i.canceled}
	i.sessions = append(i.sessions, s)
	return s
}

func (s *session) end() {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.sessions = slices.DeleteFunc(s.of.sessions, func(other *session) bool { return other == s })
}

func (s *session) stop()   { s.fire(&s.stopped, &s.onStop) }
func (s *session) cancel() { s.fire(&s.canceled, &s.onCancel) }

func (s *session) fire(done *bool, callbacks *[]func()) {
	s.mu.Lock()
	if *done {
		s.mu.Unlock()
		return
	}
	*done = true
	fs := *callbacks
	s.mu.Unlock()
	for _, f := range fs {
		f()
	}
}

func (s *session) isStopped() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// cause returns the error that stopped the operation; nil if it was not stopped.
func (s *session) cause() error {
	switch {
	case !s.isStopped():
		return nil
	case s.before:
		return errStoppedBefore
	}
	return ErrInterrupted
}

// watch arranges for stop and cancel to be called on an interrupt, at once if it has happened already.
func (s *session) watch(stop, cancel func()) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.onStop = append(s.onStop, stop)
	s.onCancel = append(s.onCancel, cancel)
	stopped, canceled := s.stopped, s.canceled
	s.mu.Unlock()
	if stopped {
		stop()
	}
	if canceled {
		cancel()
	}
}
