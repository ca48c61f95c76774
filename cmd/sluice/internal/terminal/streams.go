package terminal

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
)

// Streams are the input and output of a command, and its environment.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal report whether the streams are terminals; Width returns the terminal's width in cells.
	InTerminal, OutTerminal, ErrTerminal bool
	// Dumb is true if the terminal supports only lines of text.
	Dumb   bool
	Width  func() int
	Lookup func(name string) (string, bool) // of a variable of the environment
	// AsPulumi is true if the command was called by the name pulumi, through a link or a copy, and so stands in for it.
	AsPulumi bool
	// Guard wraps a writer whose reader executes commands in the text: it disables commands in foreign texts. It is nil if there is no such
	// reader.
	Guard func(io.Writer) io.Writer
}

// Command returns the name by which the command was called.
func (s Streams) Command() string {
	if s.AsPulumi {
		return "pulumi"
	}
	return ownName
}

const ownName = "sluice"

// Named replaces "sluice" in the commands that a text suggests by the name by which this one was called.
func (s Streams) Named(text string) string {
	return strings.ReplaceAll(text, "`"+ownName+" ", "`"+s.Command()+" ")
}

// isPulumi reports whether the path of an executable has the name pulumi.
func isPulumi(path string) bool { return strings.TrimSuffix(filepath.Base(path), ".exe") == "pulumi" }

// ProcessStreams returns the streams of this process.
func ProcessStreams() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: term.IsTerminal(int(os.Stdin.Fd())), OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Dumb: os.Getenv("TERM") == "dumb" || IsTrue(os.Getenv("ACCESSIBLE")),
		Width: func() int {
			if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
				return w
			}
			return 80
		},
		Lookup: os.LookupEnv, AsPulumi: isPulumi(os.Args[0]),
	}
}

// IsTrue parses a boolean variable (state.md appendix A).
func IsTrue(value string) bool {
	return value == "1" || strings.EqualFold(value, "true")
}
