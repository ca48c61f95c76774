package operate

import (
	"context"
	"fmt"
	"os"
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

	mu     sync.Mutex // guards the fields below
	screen *screen    // of the current phase; nil between phases
	fence  *sluice.Fence
	lock   backend.Lock // nil if the operation is only a preview
	// endHost ends the program and the plugins; nil before they are opened.
	endHost func()
	// endProcesses ends the policy packs of the phase; nil between phases.
	endProcesses func()
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

// setHost sets the function that ends the program and the plugins.
func (f *foreground) setHost(end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endHost = end
}

// setProcesses sets the fence of a phase, and the function that ends its processes.
func (f *foreground) setProcesses(fence *sluice.Fence, end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fence, f.endProcesses = fence, end
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

// abandonPatience limits how long the processes may take to end once the user does not want to wait any longer.
const abandonPatience = 2 * time.Second

// leave ends the process during the operation. It stops recording, releases the lock, and ends plugins and programs as far as that is quick.
func (f *foreground) leave() {
	f.terminal.Leave()
	f.mu.Lock()
	screen, fence, ends, lock := f.screen, f.fence, []func(){f.endProcesses, f.endHost}, f.lock
	f.mu.Unlock()
	if screen != nil && screen.log != nil {
		screen.log.Leave()
	}
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
	if screen != nil && screen.report != nil {
		if err := screen.report.leave(); err != nil {
			f.terminal.Warn("%v", err)
		}
	}
	time.AfterFunc(abandonPatience, func() { os.Exit(exit.Cancelled) })
	for _, end := range ends {
		if end != nil {
			_ = panics.Try(end)
		}
	}
	os.Exit(exit.Cancelled)
}
