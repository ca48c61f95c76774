package operate

import (
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// remarks are made once, although both phases of an operation have occasion to make them. They may be made from many
// goroutines.
type remarks struct {
	terminal *terminal.Terminal
	made     sync.Map
}

func (r *remarks) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); r.isNew("warning: " + text) {
		r.terminal.Warn("%s", text)
	}
}

// note tells the user something that is no warning.
func (r *remarks) note(text string) {
	if r.isNew("note: " + text) {
		fmt.Fprintf(r.terminal.Err, "note: %s\n", text)
	}
}

func (r *remarks) isNew(text string) bool {
	_, made := r.made.LoadOrStore(text, true)
	return !made
}
