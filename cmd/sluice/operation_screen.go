package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// setScreen makes s the screen that signals speak to; nil is none.
func (o *operation) setScreen(s *phaseScreen) {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	o.screen = s
}

// note shows a line: on the screen of the phase that goes on, or on the error stream.
func (o *operation) note(text string) {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	if o.screen != nil && o.screen.log != nil {
		o.screen.log.Note(text)
		return
	}
	fmt.Fprintln(o.cli.Err, text)
}

// runningSteps names what has begun and not ended.
func (o *operation) runningSteps() []string {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	if o.screen == nil || o.screen.log == nil {
		return nil
	}
	return o.screen.log.Running()
}

// setProcesses says how to end the processes of a phase, and what is written through in it.
func (o *operation) setProcesses(fence *sluice.Fence, end func()) {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	o.fence, o.endProcesses = fence, end
}

// setLock says what is to be given back by whoever leaves in the middle.
func (o *operation) setLock(l sluice.StackLock) {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	o.lock = l
}

// abandonPatience is how long the processes may take to end when the user does not want to wait any more.
const abandonPatience = 2 * time.Second

// leave gives up in the middle of the operation: nothing is recorded any more, the lock is free for others, plugins and
// programs are ended as far as that is quick, and so is this process.
func (o *operation) leave(quit func(status int)) {
	o.screenMu.Lock()
	fence, end, lock := o.fence, o.endProcesses, o.lock
	o.screenMu.Unlock()
	if fence != nil {
		if err := fence.Cut(context.Background()); err != nil {
			o.cli.Warn("writing the state: %v", err)
		}
	}
	if lock != nil {
		if err := lock.Close(); err != nil {
			o.cli.Warn("%v", err)
		}
	}
	time.AfterFunc(abandonPatience, func() { quit(exit.Cancelled) })
	if end != nil {
		_ = panics.Try(end)
	}
	quit(exit.Cancelled)
}

// warnOnce is warn for what the phases of an operation would say again.
func (o *operation) warnOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !o.warned[text] {
		if o.warned == nil {
			o.warned = map[string]bool{}
		}
		o.warned[text] = true
		o.cli.Warn("%s", text)
	}
}

// noteOnce tells the user something that is no warning. It may be called from many goroutines.
func (o *operation) noteOnce(text string) {
	if _, said := o.noted.LoadOrStore(text, true); !said {
		fmt.Fprintf(o.cli.Err, "note: %s\n", text)
	}
}
