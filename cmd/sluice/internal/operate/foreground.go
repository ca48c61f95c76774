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
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// foreground is what goes on in an operation, for whoever handles its signals: these speak to the screen of the phase, and
// end what would otherwise go on.
type foreground struct {
	terminal *terminal.Terminal
	// asking is true while the operation is being confirmed: there is nothing then that an interrupt would have to wait for.
	asking atomic.Bool

	mu     sync.Mutex // guards what follows
	screen *screen    // of the phase that goes on; nil between phases
	fence  *sluice.Fence
	lock   backend.Lock // nil when only a preview is made
	// endProcesses ends the plugins and the program of the phase; nil between phases.
	endProcesses func()
}

// setScreen makes s the screen that signals speak to; nil is none.
func (f *foreground) setScreen(s *screen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.screen = s
}

// setProcesses says how to end the processes of a phase, and what is written through in it.
func (f *foreground) setProcesses(fence *sluice.Fence, end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fence, f.endProcesses = fence, end
}

// setLock says what is to be given back by whoever leaves in the middle.
func (f *foreground) setLock(l backend.Lock) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lock = l
}

// note shows a line: on the screen of the phase that goes on, or on the error stream.
func (f *foreground) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.screen != nil && f.screen.log != nil {
		f.screen.log.Note(text)
		return
	}
	fmt.Fprintln(f.terminal.Err, text)
}

// running names what has begun and not ended.
func (f *foreground) running() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.screen == nil || f.screen.log == nil {
		return nil
	}
	return f.screen.log.Running()
}

// abandonPatience is how long the processes may take to end when the user does not want to wait any more.
const abandonPatience = 2 * time.Second

// leave gives up in the middle of the operation: nothing is recorded any more, the lock is free for others, plugins and
// programs are ended as far as that is quick, and so is this process.
func (f *foreground) leave() {
	f.mu.Lock()
	fence, end, lock := f.fence, f.endProcesses, f.lock
	f.mu.Unlock()
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
	time.AfterFunc(abandonPatience, func() { os.Exit(exit.Cancelled) })
	if end != nil {
		_ = panics.Try(end)
	}
	os.Exit(exit.Cancelled)
}
