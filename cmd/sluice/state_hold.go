package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/sluice-iac/sluice"
)

// holder has the locks of the stacks that a command works on, and gives them back however the command ends.
type holder struct {
	says *cli

	mu    sync.Mutex // held while something is written, or by somebody else, an editor, who gets the signals
	locks []io.Closer
}

// holding takes the locks of stacks, runs f and gives them back. Ctrl-C at a question gives them back too and ends the
// process; while something is written it waits.
func (c *cli) holding(ctx context.Context, stacks []sluice.Stack, f func(*holder) error) error {
	h := &holder{says: c}
	signalled, forget := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer forget()
	unhook := context.AfterFunc(signalled, h.leave)
	defer unhook()
	defer h.release()
	for _, s := range stacks {
		if err := h.lock(ctx, s); err != nil {
			return err
		}
	}
	return f(h)
}

func (h *holder) lock(ctx context.Context, s sluice.Stack) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := s.Lock(ctx)
	if err == nil {
		h.locks = append(h.locks, l)
	}
	return err
}

// busy runs f, which no signal interrupts.
func (h *holder) busy(f func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f()
}

func (h *holder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.locks {
		if err := l.Close(); err != nil {
			h.says.warn("the lock of the stack could not be released: %v", err)
		}
	}
	h.locks = nil
}

// leave ends the process after a signal.
func (h *holder) leave() {
	h.release()
	fmt.Fprintln(h.says.err, "\nerror: the command was cancelled")
	os.Exit(statusCancelled)
}
