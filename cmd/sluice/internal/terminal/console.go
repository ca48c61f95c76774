package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// ErrInterrupted is returned if the user has pressed Ctrl-C or Ctrl-D at a question, a signal has ended it, or the terminal has gone away.
var ErrInterrupted error = &exit.Error{Status: exit.Cancelled, Err: interruption{}}

type interruption struct{}

func (interruption) Error() string { return "the command was cancelled" }

// console owns the streams of a process. A question, a drawn screen or another program takes it before reading from the terminal; at any
// time, one of them has it. There is no other access to the input. It is safe for concurrent use.
type console struct {
	in         io.Reader
	inTerminal bool // the input was a terminal when the process began
	out, err   io.Writer

	mu      sync.Mutex // guards the fields below, and writing
	changed sync.Cond  // signals changes of the owner
	taken   bool
	asking  int    // questions that have the terminal or wait for it
	yield   func() // takes the terminal from the drawn screen; nil if there is none
	end     func() // ends the question that has the terminal; nil if none has it
	held    held   // writes held back in the meantime
	lost    error  // of the first write to the standard output that failed
	// handled is true while another part of the command handles signals: it ends questions by [Terminal.EndQuestion].
	handled bool
	leaving bool // the process ends: an ended question never returns
}

func newConsole(s Streams) *console {
	c := &console{in: s.In, inTerminal: s.InTerminal, out: s.Out, err: s.Err}
	c.changed.L = &c.mu
	return c
}

// question calls f, which may read from the terminal until its context is done. A drawn screen gives up the terminal for that time, and is
// drawn again afterwards. Ctrl-C, signals that end processes and the end of the terminal end the question, with [ErrInterrupted].
func (c *console) question(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	ctx, forget := c.untilSignal(ctx)
	defer forget()
	if !c.take(ctx, end) {
		return c.interrupted()
	}
	err := f(ctx)
	ended := ctx.Err() != nil
	c.giveBack()
	if !ended && c.gone() {
		surviveHangup(ctx)
		ended = true
	}
	if ended {
		return c.interrupted()
	}
	return err
}

// gone reports whether the input was a terminal and no longer is.
func (c *console) gone() bool {
	f, is := c.in.(*os.File)
	return is && c.inTerminal && !term.IsTerminal(int(f.Fd()))
}

// surviveHangup makes SIGHUP harmless for the rest of the process. The input of a process may end before it gets that signal, and a shell sends it
// once more: it would kill the process while it cleans up. What else handles the signal still gets it.
func surviveHangup(ctx context.Context) {
	signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGHUP)
}

// untilSignal returns a context that is done when a signal ends the process, unless another part of the command handles signals.
func (c *console) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handled {
		return ctx, func() {}
	}
	return signal.NotifyContext(ctx, endings()...)
}

// endings returns the signals that end a process. SIGHUP is not among them if it is ignored, as under nohup.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// interrupted returns the error of an ended question. If the process is ending, it does not return.
func (c *console) interrupted() error {
	c.mu.Lock()
	leaving := c.leaving
	c.mu.Unlock()
	if leaving {
		select {}
	}
	return ErrInterrupted
}

// take waits until a question has the terminal. It reports false if the context is done before. end ends the question.
func (c *console) take(ctx context.Context, end func()) bool {
	defer context.AfterFunc(ctx, c.wake)()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking++
	for c.taken && ctx.Err() == nil {
		if c.yield != nil {
			c.yield()
		}
		c.changed.Wait()
	}
	if ctx.Err() != nil {
		c.asking--
		c.changed.Broadcast()
		return false
	}
	c.taken, c.end = true, end
	return true
}

func (c *console) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

// giveBack ends a question, and writes what was held back.
func (c *console) giveBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking--
	c.free()
}

// free marks the terminal as free. c.mu is locked.
func (c *console) free() {
	c.taken, c.end, c.yield = false, nil, nil
	c.held.write()
	c.changed.Broadcast()
}

// screen calls draw, which may read from the terminal until its context is done. It calls draw again after each question that takes the
// terminal in the meantime. It returns when draw ends by itself, or when ctx is done.
func (c *console) screen(ctx context.Context, draw func(ctx context.Context) error) error {
	for {
		drawn, yield := context.WithCancel(ctx)
		if !c.takeForScreen(drawn, yield) {
			yield()
			return nil
		}
		err := draw(drawn)
		c.mu.Lock()
		c.free()
		c.mu.Unlock()
		yielded := drawn.Err() != nil && ctx.Err() == nil
		yield()
		if err != nil || !yielded {
			return err
		}
	}
}

// takeForScreen waits until a screen has the terminal, which is when no question has it or waits for it.
func (c *console) takeForScreen(ctx context.Context, yield func()) bool {
	defer context.AfterFunc(ctx, c.wake)()
	c.mu.Lock()
	defer c.mu.Unlock()
	for (c.taken || c.asking > 0) && ctx.Err() == nil {
		c.changed.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	c.taken, c.yield = true, yield
	return true
}

// lend calls f, which runs a program that has the terminal for itself.
func (c *console) lend(ctx context.Context, f func() error) error {
	if !c.take(ctx, nil) {
		return c.interrupted()
	}
	defer c.giveBack()
	return f()
}

// endQuestion ends the open question, if there is one, and waits until the terminal is restored. If leaving is set, the process is about to
// end, and the question never returns.
func (c *console) endQuestion(leaving bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = c.leaving || leaving
	for c.end != nil {
		c.end()
		c.changed.Wait()
	}
}

// hidden turns off the echo of the terminal until show is called.
func (c *console) hidden() (show func(), err error) {
	if f, is := c.in.(*os.File); is && term.IsTerminal(int(f.Fd())) {
		return hide(f)
	}
	return func() {}, nil
}

// readAnswer reads a line until ctx is done.
func (c *console) readAnswer(ctx context.Context) (string, error) {
	in, done := c.reader(ctx)
	defer done()
	return readLine(in)
}

// reader returns a reader of the input that ends when ctx is done.
func (c *console) reader(ctx context.Context) (in io.Reader, done func()) {
	r, err := cancelreader.NewReader(c.in)
	if err != nil { // neither a terminal nor a pipe: reading it does not block
		return c.in, func() {}
	}
	stop := context.AfterFunc(ctx, func() { r.Cancel() })
	return r, func() {
		stop()
		_ = r.Close() // it only releases its own resources
	}
}

// readLine reads up to a line end, byte by byte, because the following input belongs to the next question.
func readLine(in io.Reader) (string, error) {
	var line []byte
	buffer := make([]byte, 1)
	for {
		n, err := in.Read(buffer)
		if n == 1 {
			if buffer[0] == '\n' {
				return string(line), nil
			}
			line = append(line, buffer[0])
		}
		if err != nil {
			return string(line), err
		}
	}
}

// ask prints a question and reads one line. If hidden is set, the echo is off from before the question is printed.
func (c *console) ask(ctx context.Context, to io.Writer, question string, hidden bool) (answer string, err error) {
	err = c.question(ctx, func(ctx context.Context) error {
		if hidden {
			show, err := c.hidden()
			if err != nil {
				return err
			}
			defer show()
		}
		if _, err := io.WriteString(to, question); err != nil {
			return err
		}
		var err error
		answer, err = c.readAnswer(ctx)
		if hidden || ctx.Err() != nil {
			fmt.Fprintln(to)
		}
		if err != nil && answer == "" {
			return exit.Cancelledf("no answer was given")
		}
		return nil
	})
	return answer, err
}

// stream is one of the two output streams. Writes to the terminal are held back while a question, screen or program has it.
type stream struct {
	c          *console
	to         io.Writer
	isTerminal bool
}

// Write implements [io.Writer].
func (s stream) Write(p []byte) (int, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.c.taken && s.isTerminal {
		s.c.held.add(s.to, p)
		return len(p), nil
	}
	n, err := s.to.Write(p)
	if err != nil && s.c.lost == nil && s.to == s.c.out {
		s.c.lost = err
	}
	return n, err
}

// held has the writes that are held back, in order.
type held struct {
	texts []heldText
	size  int
	cut   bool
}

type heldText struct {
	to   io.Writer
	text []byte
}

// maxHeld is the number of bytes that are held back.
const maxHeld = 1 << 20

func (h *held) add(to io.Writer, text []byte) {
	if h.size+len(text) > maxHeld {
		h.cut = true
		return
	}
	h.size += len(text)
	h.texts = append(h.texts, heldText{to, slices.Clone(text)})
}

// write writes what was held back. It reports no errors, because the writers have returned.
func (h *held) write() {
	for _, t := range h.texts {
		_, _ = t.to.Write(t.text)
	}
	if h.cut {
		_, _ = io.WriteString(h.texts[len(h.texts)-1].to, "[some of the output in the meantime is left out]\n")
	}
	*h = held{}
}
