package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice"
)

// interruptible runs an operation under the rules for Ctrl-C (steps.md 9.5): the first stops admission, the second
// asks the providers to abort, the third gives the lock back and ends the process. A terminal that goes away is a first Ctrl-C. That
// nobody reads what is printed any more stops nothing.
type interruptible struct {
	interrupts *sluice.Interrupts
	// note shows a line; running names what has begun, with elapsed times. Both may be called at any time.
	note    func(text string)
	running func() []string
	// asking tells whether somebody at the terminal is being asked, and nothing else goes on. May be called at any time.
	asking func() bool
	// leave gives back what others would wait for and ends the process.
	leave func()
}

// run calls f and returns when f has.
func (i *interruptible) run(ctx context.Context, f func()) {
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, append(terminations(), os.Interrupt)...)
	_, unread := signal.NotifyContext(ctx, syscall.SIGPIPE) // and nobody listens; ignored signals would be the program's too
	ctx, done := context.WithCancel(ctx)
	var wg conc.WaitGroup
	wg.Go(func() {
		for count := 1; ; count++ {
			select {
			case s := <-signals:
				if s == syscall.SIGHUP && count > 1 {
					continue // the shell passes on what the system sends
				}
				i.handle(s, count)
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

// terminations are the signals that ask a process to end. That of a terminal that goes away is not one for who asked to survive it,
// as nohup does.
func terminations() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}

func (i *interruptible) handle(s os.Signal, count int) {
	name, again := "^C received", "press ^C again"
	switch s {
	case syscall.SIGTERM:
		name, again = "SIGTERM received", "send SIGTERM again"
	case syscall.SIGHUP:
		name, again = "the terminal is gone", "send SIGTERM"
	}
	switch {
	case count == 1 && i.asking():
		i.note("\n" + name + "; cancelled. Nothing was changed.")
		i.leave()
	case count == 1:
		i.note(i.stopMessage(name, again))
		i.interrupts.Stop()
		if i.asking() { // by now
			i.leave()
		}
	case count == 2:
		i.note(fmt.Sprintf("%s; the providers are asked to abort. To leave at once, %s: what is running would stay pending in the state.", name, again))
		i.interrupts.Cancel()
	default:
		i.note(leaveMessage(name, i.running()))
		i.leave()
	}
}

func (i *interruptible) stopMessage(name, again string) string {
	running := i.running()
	if len(running) == 0 {
		return fmt.Sprintf("%s; cancelling. Nothing is running. If you would like to terminate immediately, %s.", name, again)
	}
	return fmt.Sprintf("%s; cancelling. No new operations start; waiting for %d to finish:\n    %s\n"+
		"To ask the providers to abort them, %s. That may leave resources in an unknown state.",
		name, len(running), strings.Join(running, "\n    "), again)
}

func leaveMessage(name string, running []string) string {
	if len(running) == 0 {
		return name + "; terminating"
	}
	return fmt.Sprintf("%s; terminating. Nobody knows what becomes of the following, it stays pending in the state:\n    %s",
		name, strings.Join(running, "\n    "))
}
