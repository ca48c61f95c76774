package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/cisystem"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

// Terminal is the input and output of a command, with or without a user. All access goes through it: only questions read the input, and
// everything printed is clean.
type Terminal struct {
	// Out and Err are for texts for people. Unsafe characters become visible, even in foreign texts, and commands to a CI service are
	// disabled.
	Out, Err io.Writer

	Color          string       // when to write colours: always, never, raw or auto
	NonInteractive bool         // ask no questions, even on a terminal
	Log            *slog.Logger // the log of the engine, for bug reports; by default it discards everything
	PluginFlags    []string     // arguments that make plugins log, too

	// InTerminal, OutTerminal, Dumb, Width, Lookup and AsPulumi are those of the streams.
	InTerminal, OutTerminal, Dumb bool
	Width                         func() int
	Lookup                        func(name string) (string, bool)
	AsPulumi                      bool

	console  *console
	doors    doors
	streams  Streams
	errGate  *gate // nil if the error stream is no terminal
	discards bool  // discard the standard output
}

// doors are the ways to print besides Out and Err.
type doors struct{ styled, data io.Writer }

// New returns the terminal of a command with these streams.
func New(s Streams) *Terminal {
	t := &Terminal{
		Color: "auto", Log: slog.New(slog.DiscardHandler), InTerminal: s.InTerminal, OutTerminal: s.OutTerminal, Dumb: s.Dumb, Width: s.Width,
		Lookup: s.Lookup, AsPulumi: s.AsPulumi, console: newConsole(s), streams: s,
	}
	var out, errs io.Writer = stream{t.console, s.Out, s.OutTerminal}, stream{t.console, s.Err, s.ErrTerminal}
	t.doors.data = out
	if s.OutTerminal {
		t.doors.data = printable.NewWriter(out)
	}
	if s.ErrTerminal {
		t.errGate = &gate{out: errs}
		errs = t.errGate
	}
	if s.Guard != nil && !t.Live() {
		out, errs = s.Guard(out), s.Guard(errs)
	}
	t.Out, t.doors.styled = printable.NewWriter(out), printable.NewStyledWriter(out)
	t.Err = printable.NewWriter(errs)
	return t
}

// WarnOfLostOutput warns if the standard output could not be written, for example because the disk is full. A reader that has ended is no loss.
func (t *Terminal) WarnOfLostOutput() {
	t.console.mu.Lock()
	lost := t.console.lost
	t.console.mu.Unlock()
	if lost != nil && !errors.Is(lost, syscall.EPIPE) {
		t.Warn("not all of the output could be written: %v", lost)
	}
}

// Again returns a terminal with the same streams, and the usual settings.
func (t *Terminal) Again() *Terminal { return New(t.streams) }

// Muted returns the same terminal with a standard output that discards everything.
func (t *Terminal) Muted() *Terminal { return t.Diverted(io.Discard) }

// Diverted returns the same terminal with a standard output that goes to w, and shows no commands to a CI service.
func (t *Terminal) Diverted(w io.Writer) *Terminal {
	diverted := *t
	diverted.Out, diverted.doors.styled, diverted.doors.data, diverted.discards = w, w, w, true
	return &diverted
}

// Styled returns the standard output for coloured texts. Their writer has cleaned the foreign parts (package display).
func (t *Terminal) Styled() io.Writer { return t.doors.styled }

// Data returns the standard output for programs. It is exact, unless it is a terminal.
func (t *Terminal) Data() io.Writer { return t.doors.data }

// Commands returns the standard output for commands to a CI service. The writer makes sure that no foreign text is a command.
func (t *Terminal) Commands() io.Writer {
	if t.discards {
		return io.Discard
	}
	return stream{t.console, t.streams.Out, t.streams.OutTerminal}
}

// OutputFiles returns the files that the command writes its output to.
func (t *Terminal) OutputFiles() (files []*os.File) {
	for _, w := range []io.Writer{t.streams.Out, t.streams.Err} {
		if f, is := w.(*os.File); is {
			files = append(files, f)
		}
	}
	return files
}

// Process has the streams of a process that has the terminal for itself.
type Process struct {
	In       io.Reader
	Out, Err io.Writer
}

// Lend calls f, which runs another program in the terminal, such as an editor.
func (t *Terminal) Lend(ctx context.Context, f func(Process) error) error {
	return t.console.lend(ctx, func() error { return f(Process{t.streams.In, t.streams.Out, t.streams.Err}) })
}

// Env returns the value of a variable, "" if it is not set.
func (t *Terminal) Env(name string) string {
	value, _ := t.Lookup(name)
	return value
}

// EnvIsTrue reports whether a boolean variable is set to true.
func (t *Terminal) EnvIsTrue(name string) bool { return IsTrue(t.Env(name)) }

// Command returns the name by which the command was called.
func (t *Terminal) Command() string { return t.streams.Command() }

// Named replaces "sluice" in the commands that a text suggests by the name by which this one was called.
func (t *Terminal) Named(text string) string { return t.streams.Named(text) }

// Interactive reports whether a user is there to answer questions (protocol.md 10.1).
func (t *Terminal) Interactive() bool {
	return t.InTerminal && t.OutTerminal && !t.NonInteractive && !t.inCI()
}

// Live reports whether lines can be redrawn on the standard output.
func (t *Terminal) Live() bool { return t.OutTerminal && !t.Dumb && !t.inCI() && !t.NonInteractive }

// ErrWidth returns the width of the error stream in cells, 0 if it is no terminal.
func (t *Terminal) ErrWidth() int {
	if !t.streams.ErrTerminal || t.Width == nil {
		return 0
	}
	return t.Width()
}

// HoldErr diverts writes to the error stream to f, if that stream is a terminal, until release is called.
func (t *Terminal) HoldErr(f func(text string)) (release func()) {
	if t.errGate != nil {
		return t.errGate.hold(f)
	}
	return func() {}
}

// Drawable reports whether the whole screen can be drawn on and keys can be read. A screen reader, for example, needs lines of text.
func (t *Terminal) Drawable() bool { return t.Live() && t.InTerminal }

func (t *Terminal) inCI() bool { return t.Lookup != nil && cisystem.Detected(t.Env) }

// Colored reports whether to write colours.
func (t *Terminal) Colored() bool {
	switch t.Color {
	case "always":
		return true
	case "auto":
		if t.Env("NO_COLOR") != "" {
			return false
		}
		force := t.Env("FORCE_COLOR")
		return force != "" && force != "0" && force != "false" || t.OutTerminal && t.Env("TERM") != "dumb"
	}
	return false
}

// Warn shows a warning that does not stop the command, with the advice of its error arguments.
func (t *Terminal) Warn(format string, args ...any) {
	var as []advice.Advice
	for _, arg := range args {
		if err, is := arg.(error); is {
			as = append(as, advice.Of(err)...)
		}
	}
	t.WarnWith(fmt.Sprintf(format, args...), as...)
}

// WarnWith shows a warning that does not stop the command, with advice.
func (t *Terminal) WarnWith(text string, as ...advice.Advice) {
	fmt.Fprintf(t.Err, "warning: %s\n", t.Named(advise.With(text, as...)))
}

// Ask prints a question and reads one line.
func (t *Terminal) Ask(ctx context.Context, question string) (string, error) {
	answer, err := t.console.ask(ctx, printable.NewWriter(t.console.out), question, false)
	return strings.TrimSpace(answer), err
}

// AskHidden prints a question and reads one line without echo.
func (t *Terminal) AskHidden(ctx context.Context, question string) (string, error) {
	return t.console.ask(ctx, printable.NewWriter(t.console.err), question, true)
}

// HandleSignals sets whether another part of the command handles the signals that end processes. That part then has to end questions by
// [Terminal.EndQuestion] or [Terminal.Leave].
func (t *Terminal) HandleSignals(elsewhere bool) {
	t.console.mu.Lock()
	defer t.console.mu.Unlock()
	t.console.handled = elsewhere
}

// EndQuestion ends the open question, if there is one, with [ErrInterrupted], and waits until the terminal is restored.
func (t *Terminal) EndQuestion() { t.console.endQuestion(false) }

// Leave is [Terminal.EndQuestion] for a process that is about to end: the question never returns.
func (t *Terminal) Leave() { t.console.endQuestion(true) }

// Cancel ends the process after a signal.
func (t *Terminal) Cancel() {
	t.Leave()
	fmt.Fprintf(t.Err, "\nerror: %v\n", ErrInterrupted)
	os.Exit(exit.Cancelled)
}

// Draw runs a Bubble Tea program for a question on the terminal, until it ends or ctx is done.
func (t *Terminal) Draw(ctx context.Context, m tea.Model) error {
	return t.console.question(ctx, func(ctx context.Context) error { return t.draw(ctx, m) })
}

// Show runs a Bubble Tea program for output on the terminal, until it ends or ctx is done. A question takes the terminal from it; the same model is
// run again afterwards. Signals are handled elsewhere.
func (t *Terminal) Show(ctx context.Context, m tea.Model) error {
	return t.console.screen(ctx, func(ctx context.Context) error { return t.draw(ctx, m) })
}

// draw runs a Bubble Tea program and restores the terminal.
func (t *Terminal) draw(ctx context.Context, m tea.Model) error {
	ctx, done := context.WithCancel(ctx)
	var p *tea.Program
	in, leave := t.console.in, func() {}
	if f, is := in.(*os.File); is { // the library needs a file to read from a terminal
		i := &input{File: f, ended: func() { p.Send(GoneMsg{}) }}
		in, leave = i, i.leave
	}
	options := []tea.ProgramOption{tea.WithInput(in), tea.WithOutput(t.console.out), tea.WithoutSignalHandler(), tea.WithFPS(20)}
	if !t.Colored() {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	p = tea.NewProgram(m, options...)
	var wg conc.WaitGroup
	wg.Go(func() {
		<-ctx.Done()
		leave()
		p.Quit()
	})
	_, err := p.Run()
	done()
	wg.Wait()
	return err
}

// FirstLine reads the first line of a command's standard input that is data, not answers of a user.
func (t *Terminal) FirstLine(ctx context.Context) (line string, err error) {
	err = t.console.question(ctx, func(ctx context.Context) error {
		var err error
		if line, err = t.console.readAnswer(ctx); errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		return err
	})
	return line, err
}

// Input calls f with a command's standard input that is data, not answers of a user.
func (t *Terminal) Input(ctx context.Context, f func(io.Reader) error) error {
	return t.console.question(ctx, func(ctx context.Context) error {
		in, done := t.console.reader(ctx)
		defer done()
		return f(in)
	})
}

// ReadAll reads the standard input to its end.
func (t *Terminal) ReadAll(ctx context.Context) (text []byte, err error) {
	err = t.Input(ctx, func(in io.Reader) (err error) {
		text, err = io.ReadAll(in)
		return err
	})
	return text, err
}

// ReadValue reads a value from a command's standard input that is data, not answers of a user. It removes the final line end unless
// raw is set.
func (t *Terminal) ReadValue(ctx context.Context, raw bool) (string, error) {
	data, err := t.ReadAll(ctx)
	if err != nil {
		return "", fmt.Errorf("read the value from the standard input: %w", err)
	}
	text := string(data)
	if !raw {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text, nil
}

// gate is a writer whose texts can be diverted while the terminal shows something else. It is safe for concurrent use.
type gate struct {
	out io.Writer

	mu   sync.Mutex
	held func(text string) // nil if texts are written
}

// Write implements [io.Writer].
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		g.held(string(p))
		return len(p), nil
	}
	return g.out.Write(p)
}

// hold diverts texts to f until release is called. f must not write to the gate.
func (g *gate) hold(f func(text string)) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = f
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.held = nil
	}
}
