package interrupts

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice"
)

// Guard runs an operation under the rules for Ctrl-C (steps.md 9.5): the first one halts the run, the second one cancels the provider
// calls and ends the program, the third one releases the lock and ends the process. The end of the terminal counts as a first Ctrl-C. The
// end of the reader of the output has no effect.
type Guard struct {
	Interrupts *sluice.Interrupts
	// Note shows a notice about a signal. Running describes the running steps, the longest first. Both may be called at any time.
	Note    func(Notice)
	Running func() []string
	// Asking reports whether the operation only waits for an answer of the user. It may be called at any time.
	Asking func() bool
	// Leave releases the lock and ends the process.
	Leave func()

	signals chan os.Signal
}

// Notice is a message about a signal.
type Notice struct {
	Text    string
	Running []string // the running steps, if the text is about them
	Then    string   // the text after them, "" for none
}

// String returns the whole notice.
func (n Notice) String() string { return n.with(n.Running) }

// Brief returns the notice for a screen that already shows the running steps.
func (n Notice) Brief() string { return n.with(nil) }

func (n Notice) with(running []string) string {
	text := n.Text
	if len(running) > 0 {
		if more := len(running) - maxListed; more > 0 {
			running = append(slices.Clone(running[:maxListed]), fmt.Sprintf("... and %d more", more))
		}
		text += ":\n    " + strings.Join(running, "\n    ")
	} else if len(n.Running) > 0 {
		text += "."
	}
	if n.Then != "" {
		text += "\n" + n.Then
	}
	return text
}

// maxListed is the maximal number of running steps in the list.
const maxListed = 40

// NewGuard returns a guard of the operation that these interrupts stop. Set its functions before Run.
func NewGuard(i *sluice.Interrupts) *Guard {
	return &Guard{Interrupts: i, signals: make(chan os.Signal, 3)}
}

// Press has the effect of a Ctrl-C that the terminal does not turn into a signal. It returns at once.
func (g *Guard) Press() {
	select {
	case g.signals <- os.Interrupt:
	default: // others are waiting, as with signals
	}
}

// Run calls f and waits until it returns.
func (g *Guard) Run(ctx context.Context, f func()) {
	signals := g.signals
	signal.Notify(signals, append(terminations(), os.Interrupt)...)
	_, unread := signal.NotifyContext(ctx, syscall.SIGPIPE) // nothing reads it; child processes would inherit an ignored signal
	ctx, done := context.WithCancel(ctx)
	var wg conc.WaitGroup
	wg.Go(func() {
		for count := 1; ; count++ {
			select {
			case s := <-signals:
				if s == syscall.SIGHUP && count > 1 {
					continue // the shell repeats the signal of the system
				}
				g.handle(s, count)
			case <-ctx.Done():
				return
			}
		}
	})
	defer func() {
		signal.Stop(signals)
		unread()
		done()
		wg.Wait()
	}()
	f()
}

func (g *Guard) handle(s os.Signal, count int) {
	name, again := "^C received", "press ^C again"
	switch s {
	case syscall.SIGTERM:
		name, again = "SIGTERM received", "send SIGTERM again"
	case syscall.SIGHUP:
		name, again = "the terminal is gone", "send SIGTERM"
	}
	switch {
	case count == 1 && g.Asking():
		g.Note(Notice{Text: "\n" + name + "; cancelled. Nothing was changed."})
		g.Leave()
	case count == 1:
		g.Note(g.stopNotice(name, again))
		g.Interrupts.Stop()
		if g.Asking() { // check again
			g.Leave()
		}
	case count == 2:
		g.Note(Notice{Text: fmt.Sprintf("%s; the providers are asked to abort, and the program is ended. To leave at once, %s: what is running would stay pending in the state.", name, again)})
		g.Interrupts.Cancel()
	default:
		g.Note(leaveNotice(name, g.Running()))
		g.Leave()
	}
}

func (g *Guard) stopNotice(name, again string) Notice {
	running := g.Running()
	if len(running) == 0 {
		return Notice{Text: fmt.Sprintf("%s; cancelling. No operation is running. To end the program without waiting for it, %s.", name, again)}
	}
	return Notice{
		Text:    fmt.Sprintf("%s; cancelling. No new operations start; waiting for %d to finish", name, len(running)),
		Running: running,
		Then:    fmt.Sprintf("To ask the providers to abort them, %s. That may leave resources in an unknown state.", again),
	}
}

func leaveNotice(name string, running []string) Notice {
	if len(running) == 0 {
		return Notice{Text: name + "; terminating"}
	}
	return Notice{Text: name + "; terminating. The outcome of the following operations is not known; they stay pending in the state", Running: running}
}

// terminations returns the signals that end a process. It leaves out SIGHUP if that is ignored, as under nohup.
func terminations() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}
