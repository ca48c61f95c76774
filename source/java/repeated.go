package java

import (
	"regexp"
	"strings"
	"sync"
)

var (
	repeats = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`com\.pulumi\.deployment\.internal\.DeploymentImpl\$DefaultEngineLogger errorAsync$`)
	})
	continues = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\t|Caused by: )`) })
)

// repeated matches the errors that the SDK writes to the error stream in addition to sending them to the engine: a line with the name of
// the SDK's logger, the first line of the error, and the stack. Any line that does not match ends the error.
type repeated struct{ next place }

// place is the place of the next line in an error.
type place int

const (
	outside   place = iota
	first           // below the line with the name of the logger
	exception       // above a stack
	rest
)

// is reports whether a line repeats an error. It must be called with each line of the stream.
func (r *repeated) is(line string) bool {
	switch {
	case repeats().MatchString(line):
		r.next = first
	case r.next == first && strings.HasSuffix(line, "failed with an unhandled exception:"):
		r.next = exception
	case r.next == first, r.next == exception, r.next == rest && continues().MatchString(line):
		r.next = rest
	default:
		r.next = outside
	}
	return r.next != outside
}
