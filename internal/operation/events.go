package operation

import (
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// events delivers the events of the operation and of its run one at a time, without the secrets in their texts. An
// observer that panics gets no more events, and the run stops. [stages.Ended] is the last event: what a timer reports later is dropped.
type events struct {
	masks    masks
	mu       sync.Mutex // guards the rest
	again    *again     // decides what earlier attempts have shown; nil in the first one
	said     said       // the messages so far
	streams  streams
	observe  func(stages.Event) // nil discards, as it does after the last event
	panicked error              // of the observer
	stop     func()             // stops the run; nil before there is one
}

func (e *events) emit(ev stages.Event) {
	if d, says := ev.(stages.Diagnostic); says && e.emitPiece(d) {
		return
	}
	ev = e.masks.event(ev)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch ev.(type) {
	case stages.Summary, stages.Ended: // what is held back comes before them
		e.deliverAll(e.streams.end())
	}
	e.deliver(ev)
	if _, last := ev.(stages.Ended); last {
		e.observe = nil
	}
}

// emitPiece emits a message if it is only a piece of a text.
func (e *events) emitPiece(d stages.Diagnostic) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.streams.isPiece(d) {
		return false
	}
	e.deliverAll(e.streams.next(d, e.masks.shown))
	return true
}

func (e *events) deliverAll(list []stages.Diagnostic) {
	for _, d := range list {
		e.deliver(d)
	}
}

// deliver passes an event to the observer. The caller holds the lock.
func (e *events) deliver(ev stages.Event) {
	if e.observe == nil || e.again.wasShown(ev) || e.said.repeats(ev, e.again.number()) {
		return
	}
	err := caught("the observer of events", func() error { e.observe(ev); return nil })
	if err == nil {
		return
	}
	e.observe, e.panicked = nil, err
	if e.stop != nil {
		e.stop()
	}
}

// continueAfter makes the events those of another attempt: what was shown is not shown again.
func (e *events) continueAfter(a *again) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.again = a
}

// stopOnPanic sets the function that stops the run when the observer panics. If it has panicked already, stop is called at
// once.
func (e *events) stopOnPanic(stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stop = stop
	if e.panicked != nil {
		stop()
	}
}

// failure returns the panic of the observer, nil if it has not panicked.
func (e *events) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.panicked
}

// show emits a message.
func (e *events) show(m stages.LogMessage) { e.emit(stages.Diagnostic{LogMessage: m}) }

func (e *events) warn(u urn.URN, message string) {
	e.show(stages.LogMessage{Severity: stages.Warning, URN: u, Message: message})
}

// showError emits a message about an error. Errors that make the run fail go through [standard.Run.Fail], which records
// them too.
func (e *events) showError(message string) {
	e.show(stages.LogMessage{Severity: stages.Error, Message: message})
}
