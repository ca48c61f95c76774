package interrupts

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// Holder holds the locks of the stacks that a command works on, and releases them however the command ends.
type Holder struct {
	terminal *terminal.Terminal

	mu    sync.Mutex // held while the command writes; guards locks
	locks []io.Closer

	disarm func() // restores the usual effect of Ctrl-C
}

// Hold locks stacks, runs f and releases the locks. A Ctrl-C at a question also releases them and ends the process. A
// Ctrl-C during a write takes effect after it.
func Hold(ctx context.Context, t *terminal.Terminal, stacks []backend.Lockable, f func(*Holder) error) error {
	h := &Holder{terminal: t}
	defer h.hook(ctx, terminations()...)()
	h.disarm = h.hook(ctx, os.Interrupt)
	defer func() { h.disarm() }()
	t.HandleSignals(true)
	defer t.HandleSignals(false)
	defer h.release()
	for _, s := range stacks {
		if err := h.lock(ctx, s); err != nil {
			return err
		}
	}
	return f(h)
}

// hook handles signals until unhook is called: they end the process in an orderly way.
func (h *Holder) hook(ctx context.Context, signals ...os.Signal) (unhook func()) {
	signalled, forget := signal.NotifyContext(ctx, signals...)
	stop := context.AfterFunc(signalled, h.leave)
	return func() { stop(); forget() }
}

// Undisturbed runs f, a program that uses the terminal. A Ctrl-C then affects only that program.
func (h *Holder) Undisturbed(ctx context.Context, f func() error) error {
	_, hear := signal.NotifyContext(ctx, os.Interrupt) // nothing reads it; programs would inherit ignored signals
	defer hear()
	_, settle := signal.NotifyContext(ctx, os.Interrupt)
	h.disarm()
	defer func() {
		settle() // it waits until signals that have come are delivered, so that the hook does not get them
		h.disarm = h.hook(ctx, os.Interrupt)
	}()
	return f()
}

func (h *Holder) lock(ctx context.Context, s backend.Lockable) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "state"})
	if err == nil {
		h.locks = append(h.locks, l)
	}
	return err
}

// Busy runs f. No signal interrupts it.
func (h *Holder) Busy(f func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return f()
}

func (h *Holder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.locks {
		if err := l.Close(); err != nil {
			h.terminal.Warn("the lock of the stack could not be released: %v", err)
		}
	}
	h.locks = nil
}

// leave ends the process after a signal.
func (h *Holder) leave() {
	h.release()
	h.terminal.Cancel()
}
