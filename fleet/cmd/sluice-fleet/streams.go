package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// Only this file uses the streams of the process. It makes texts of programs, services and recorded states safe to print.

// out returns the standard output for texts for people.
func out() io.Writer { return printable.NewWriter(os.Stdout) }

// errs returns the error stream.
func errs() io.Writer { return printable.NewWriter(os.Stderr) }

// exact returns the standard output for programs. It is exact, unless it is a terminal.
func exact() io.Writer {
	if isOnTerminal() {
		return out()
	}
	return os.Stdout
}

// documents returns the standard output for JSON, in which unsafe characters become escape sequences.
func documents() io.Writer { return printable.JSONWriter{Out: os.Stdout} }

// screen returns the standard output for a redrawn tree, whose lines have been cleaned.
func screen() io.Writer { return os.Stdout }

func isOnTerminal() bool { return term.IsTerminal(int(os.Stdout.Fd())) }

// isDrawable reports whether a run can be drawn as a tree.
func isDrawable() bool { return isOnTerminal() && os.Getenv("TERM") != "dumb" }

// isAttended reports whether somebody can answer questions.
func isAttended() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// ask requests one word, before anything is drawn.
func ask(question string) (answer string) {
	fmt.Fprint(errs(), question)
	_, _ = fmt.Fscanln(os.Stdin, &answer) // an empty line is an answer, too
	return answer
}

// input returns the standard input, for a document.
func input() io.Reader { return os.Stdin }
