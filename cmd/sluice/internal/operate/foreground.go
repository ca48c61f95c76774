package operate

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// foreground holds the current screen and processes of an operation. The signal handler writes to the screen, and ends
// the processes before it ends the operation.
type foreground struct {
	terminal *terminal.Terminal
	// asking is true while a confirmation is requested: an interrupt then ends the operation at once.
	asking atomic.Bool

	mu     sync.Mutex    // guards the fields below
	screen *screen       // of the current phase; nil between phases
	fence  *sluice.Fence // of the current phase; nil between phases
	lock   backend.Lock  // nil if the operation is only a preview
	ends   []*func()     // what has to be ended or undone before the process ends
}

// ask begins the request for a confirmation, which lasts until answered is called.
func (f *foreground) ask() (answered func()) {
	f.asking.Store(true)
	return func() { f.asking.Store(false) }
}

// endQuestion ends the open question, and waits until the terminal is restored. If the question is the confirmation, the process is about to
// end.
func (f *foreground) endQuestion() {
	if f.asking.Load() {
		f.terminal.Leave()
		return
	}
	f.terminal.EndQuestion()
}

// setScreen sets the screen for the signal handler, nil for none.
func (f *foreground) setScreen(s *screen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen = s
}

// begun makes leave call end as well, which ends or undoes what has begun. The returned function calls it in the usual case. It is called once, by whoever
// comes first.
func (f *foreground) begun(end func()) (over func()) {
	end = sync.OnceFunc(end)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ends = append(f.ends, &end)
	return func() {
		end()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ends = slices.DeleteFunc(f.ends, func(other *func()) bool { return other == &end })
	}
}

// setFence sets the fence of a phase, nil for none.
func (f *foreground) setFence(fence *sluice.Fence) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fence = fence
}

// setLock sets the lock for leave to release.
func (f *foreground) setLock(l backend.Lock) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lock = l
}

// signalled shows a notice about a signal.
func (f *foreground) signalled(n interrupts.Notice) { f.show(n.String(), n.Brief()) }

// note shows a line.
func (f *foreground) note(text string) { f.show(text, text) }

// show shows a line on the screen of the current phase, in the form onScreen, or on the error stream.
func (f *foreground) show(text, onScreen string) {
	f.endQuestion()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.screen != nil && f.screen.log != nil {
		f.screen.log.Note(text, onScreen)
		return
	}
	fmt.Fprintln(f.terminal.Err, text)
}

// running describes the running steps.
func (f *foreground) running() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.screen == nil || f.screen.log == nil {
		return nil
	}
	return f.screen.log.Running()
}

// These limit how long the backend may take to store what has happened, and how long the processes may take to end, once the user does not want to
// wait any longer.
const (
	recordPatience  = 15 * time.Second
	abandonPatience = 2 * time.Second
)

// leave ends the process during the operation. It stops recording, releases the lock, and ends what has begun, the first first: secret files of environments
// are removed before it waits for plugins and programs.
func (f *foreground) leave() {
	f.terminal.Leave()
	f.mu.Lock()
	screen, fence, ends, lock := f.screen, f.fence, slices.Clone(f.ends), f.lock
	f.mu.Unlock()
	if screen != nil && screen.log != nil {
		screen.log.Leave()
	}
	late := time.AfterFunc(recordPatience, func() {
		f.terminal.Warn("the backend does not answer: the lock may stay, and the last results are recorded only as far as the backend has stored them")
		f.end(ends)
	})
	if fence != nil {
		if err := fence.Cut(context.Background()); err != nil {
			f.terminal.Warn("writing the state: %v", err)
		}
	}
	if lock != nil {
		if err := lock.Close(); err != nil {
			f.terminal.Warn("%v", err)
		}
	}
	late.Stop()
	if screen != nil && screen.report != nil {
		if err := screen.report.leave(); err != nil {
			f.terminal.Warn("%v", err)
		}
	}
	f.end(ends)
}

// end ends the process, and before that what has begun, as far as it is quick.
func (f *foreground) end(ends []*func()) {
	time.AfterFunc(abandonPatience, func() { os.Exit(exit.Cancelled) })
	for _, end := range ends {
		_ = panics.Try(*end)
	}
	os.Exit(exit.Cancelled)
}
