package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// cancellation is what has to be done before a signal at a question may end the process.
type cancellation struct {
	show    atomic.Pointer[func()] // makes the terminal show again what is typed; nil while it does
	undo    atomic.Pointer[func()] // takes back what the command has begun; nil for nothing
	handled bool                   // somebody else ends the process after a signal
}

// readHidden reads a line from a terminal that does not show it. A signal that ends the process leaves the terminal as it was.
func (c *cancellation) readHidden(fd int, says io.Writer) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	signalled, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer forget()
	restore := func() { _ = term.Restore(fd, before) } // if that fails, there is nothing else to try
	c.show.Store(&restore)
	defer c.show.Store(nil)
	if !c.handled {
		defer context.AfterFunc(signalled, func() { c.end(says) })()
	}
	text, err := term.ReadPassword(fd)
	return string(text), err
}

// end ends the process after a signal.
func (c *cancellation) end(says io.Writer) {
	if restore := c.show.Load(); restore != nil {
		(*restore)()
	}
	if undo := c.undo.Load(); undo != nil {
		(*undo)()
	}
	fmt.Fprintln(says, "\nerror: the command was cancelled")
	os.Exit(exit.Cancelled)
}
