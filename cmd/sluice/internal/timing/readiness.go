package timing

import (
	"fmt"
	"strings"
	"time"
)

// readiness is how long a program took until its first registration.
type readiness struct {
	preparation time.Duration // before the start, such as compiling
	program     *span         // nil if there is none
	first       time.Time     // the first registration; zero if there is none
}

func (r *readiness) starts(s *span) {
	switch {
	case s.kind == kindProgram && r.program == nil:
		r.program = s
	case s.kind == kindResource && r.program != nil && r.first.IsZero():
		r.first = s.start
	}
}

func (r *readiness) ends(s *span) {
	if s.name == "preparation of the program" {
		r.preparation += s.duration()
	}
}

// write writes a line, unless no program has run.
func (r *readiness) write(w *strings.Builder) {
	if r.program == nil {
		return
	}
	prepared := ""
	if r.preparation > 0 {
		prepared = fmt.Sprintf("%s to be prepared, then ", shown(r.preparation))
	}
	until, end := r.first, "its first registration"
	if until.IsZero() {
		until, end = r.program.end, "its end, without a registration"
	}
	fmt.Fprintf(w, "The program needed %s%s to start, until %s.\n", prepared, shown(until.Sub(r.program.start)), end)
}
