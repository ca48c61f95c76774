package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/sluice-iac/sluice/internal/printable"
)

// Nothing but this file touches the streams of the process. What comes from programs, services and recorded states becomes safe to print here.

// out takes texts for people.
func out() io.Writer { return printable.NewWriter(os.Stdout) }

// errs takes what is said beside the output.
func errs() io.Writer { return printable.NewWriter(os.Stderr) }

// exact takes what programs read. It is exact, unless it is shown on a terminal.
func exact() io.Writer {
	if isOnTerminal() {
		return out()
	}
	return os.Stdout
}

// documents takes JSON, in which what is not safe to print becomes escape sequences.
func documents() io.Writer { return printable.JSONWriter{Out: os.Stdout} }

// screen takes what is drawn again, whose lines were cleaned before.
func screen() io.Writer { return os.Stdout }

func isOnTerminal() bool { return term.IsTerminal(int(os.Stdout.Fd())) }

// isDrawable reports whether a run can be drawn as a tree.
func isDrawable() bool { return isOnTerminal() && os.Getenv("TERM") != "dumb" }

// isAttended reports whether somebody can answer questions.
func isAttended() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// ask asks for one word, before anything is drawn.
func ask(question string) (answer string) {
	fmt.Fprint(errs(), question)
	_, _ = fmt.Fscanln(os.Stdin, &answer) // an empty line is an answer, too
	return answer
}

// input is a document that the caller gives.
func input() io.Reader { return os.Stdin }
