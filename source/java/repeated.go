package java

import (
	"regexp"
	"strings"
)

var (
	repeats   = regexp.MustCompile(`com\.pulumi\.deployment\.internal\.DeploymentImpl\$DefaultEngineLogger errorAsync$`)
	continues = regexp.MustCompile(`^(\t|Caused by: )`)
)

// repeated recognizes the errors that the SDK writes to the error stream besides sending them to the engine: a line that names
// the SDK's logger, the first line of the error, and what belongs to that. It goes by what the SDK writes; a line that it does not
// expect ends the error.
type repeated struct{ next place }

// place is where in an error a line is.
type place int

const (
	outside   place = iota
	first           // below the line that names the logger
	exception       // above a stack
	rest
)

// is reports whether a line repeats an error. It wants each line of the stream.
func (r *repeated) is(line string) bool {
	switch {
	case repeats.MatchString(line):
		r.next = first
	case r.next == first && strings.HasSuffix(line, "failed with an unhandled exception:"):
		r.next = exception
	case r.next == first, r.next == exception, r.next == rest && continues.MatchString(line):
		r.next = rest
	default:
		r.next = outside
	}
	return r.next != outside
}
