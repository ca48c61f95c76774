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

// cancellation holds what has to be done before a signal at a question may end the process.
type cancellation struct {
	show    atomic.Pointer[func()] // makes the terminal echo input again; nil while it does
	undo    atomic.Pointer[func()] // undoes what the command has begun; nil for nothing
	handled bool                   // another part of the program ends the process after a signal
}

// readHidden reads a line from a terminal without echoing it. A signal that ends the process restores the terminal
// first.
func (c *cancellation) readHidden(fd int, says io.Writer) (string, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	signalled, forget := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer forget()
	restore := func() { _ = term.Restore(fd, before) } // if this fails, nothing else can be done
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
