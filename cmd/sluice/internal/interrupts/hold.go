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

// Holder has the locks of the stacks that a command works on, and gives them back however the command ends.
type Holder struct {
	terminal *terminal.Terminal

	mu    sync.Mutex // held while something is written; guards locks
	locks []io.Closer

	disarm func() // makes Ctrl-C mean what it usually does
}

// Hold takes the locks of stacks, runs f and gives them back. Ctrl-C at a question gives them back too and ends the
// process; while something is written it waits.
func Hold(ctx context.Context, t *terminal.Terminal, stacks []backend.Stack, f func(*Holder) error) error {
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

// hook lets signals end the process in an orderly way, until the returned function is called.
func (h *Holder) hook(ctx context.Context, signals ...os.Signal) (unhook func()) {
	signalled, forget := signal.NotifyContext(ctx, signals...)
	stop := context.AfterFunc(signalled, h.leave)
	return func() { stop(); forget() }
}

// Undisturbed runs f, a program that has the terminal: a Ctrl-C there is meant for it.
func (h *Holder) Undisturbed(ctx context.Context, f func() error) error {
	_, hear := signal.NotifyContext(ctx, os.Interrupt) // and nobody listens; ignored signals would be the program's too
	defer hear()
	h.disarm()
	defer func() { h.disarm = h.hook(ctx, os.Interrupt) }()
	return f()
}

func (h *Holder) lock(ctx context.Context, s backend.Stack) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "state"})
	if err == nil {
		h.locks = append(h.locks, l)
	}
	return err
}

// Busy runs f, which no signal interrupts.
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
