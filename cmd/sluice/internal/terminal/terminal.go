package terminal

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Terminal is the input and output of a command, with or without a user.
type Terminal struct {
	Streams
	Color          string       // when to write colours: always, never, raw or auto
	NonInteractive bool         // ask nothing, even on a terminal
	Log            *slog.Logger // what the engine does, for bug reports; discards unless it is asked for
	PluginFlags    []string     // arguments with which plugins are asked to log, too

	cancellation *cancellation
}

// New returns the terminal of a command with these streams.
func New(s Streams) *Terminal {
	return &Terminal{Streams: s, Color: "auto", Log: slog.New(slog.DiscardHandler), cancellation: &cancellation{}}
}

// Muted returns the same terminal with a standard output that discards everything.
func (t *Terminal) Muted() *Terminal {
	muted := *t
	muted.Out = io.Discard
	return &muted
}

// Env returns the value of a variable, "" if it is not set.
func (t *Terminal) Env(name string) string {
	value, _ := t.Lookup(name)
	return value
}

// EnvIsTrue reports whether a boolean variable is set to true.
func (t *Terminal) EnvIsTrue(name string) bool { return IsTrue(t.Env(name)) }

// Interactive reports whether a user is there to answer questions (protocol.md 10.1).
func (t *Terminal) Interactive() bool {
	return t.InTerminal && t.OutTerminal && !t.NonInteractive && !t.inCI()
}

// Live reports whether lines can be redrawn on the standard output.
func (t *Terminal) Live() bool { return t.OutTerminal && !t.Dumb && !t.inCI() && !t.NonInteractive }

// HoldErr passes what is written to the error stream to f instead, if that stream is a terminal, until release is called.
func (t *Terminal) HoldErr(f func(text string)) (release func()) {
	if g, ok := t.Err.(*Gate); ok {
		return g.Hold(f)
	}
	return func() {}
}

// Drawable reports whether the whole screen can be drawn on, and keys be read: a screen reader, for one, needs lines of text.
func (t *Terminal) Drawable() bool { return t.Live() && t.InTerminal }

func (t *Terminal) inCI() bool {
	for _, name := range []string{"CI", "BUILD_ID", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION"} {
		if value := t.Env(name); value != "" && !strings.EqualFold(value, "false") {
			return true
		}
	}
	return false
}

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

// Warn shows a warning that does not stop the command, with the advice of the errors that it formats.
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
func (t *Terminal) Ask(question string) (string, error) {
	if _, err := fmt.Fprint(t.Out, question); err != nil {
		return "", err
	}
	answer, err := ReadLine(t.In)
	if err != nil && answer == "" {
		return "", exit.Cancelledf("no answer was given")
	}
	return strings.TrimSpace(answer), nil
}

// AskHidden prints a question and reads one line that is not shown.
func (t *Terminal) AskHidden(question string) (string, error) {
	fmt.Fprint(t.Err, question)
	defer fmt.Fprintln(t.Err)
	if f, ok := t.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return t.cancellation.readHidden(int(f.Fd()), t.Err)
	}
	return ReadLine(t.In)
}

// HandleSignals sets whether another part of the program ends the process after a signal at a hidden question, by
// calling [Terminal.Cancel].
func (t *Terminal) HandleSignals(elsewhere bool) { t.cancellation.handled = elsewhere }

// Undo sets the function that is called before a signal at a hidden question ends the process; nil calls nothing.
func (t *Terminal) Undo(undo func()) {
	if undo == nil {
		t.cancellation.undo.Store(nil)
		return
	}
	t.cancellation.undo.Store(&undo)
}

// Cancel ends the process after a signal.
func (t *Terminal) Cancel() { t.cancellation.end(t.Err) }
