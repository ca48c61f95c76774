package operate

import (
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/property/redact"
)

// remarks shows each remark only once, although both phases of an operation may make it. It is safe for concurrent use.
type remarks struct {
	terminal *terminal.Terminal
	masks    *redact.Set // nil if secrets are shown
	made     sync.Map
}

func (r *remarks) warn(format string, args ...any) {
	if text := r.masks.Mask(fmt.Sprintf(format, args...)); r.isNew("warning: " + text) {
		r.terminal.Warn("%s", text)
	}
}

// note shows a remark that is not a warning.
func (r *remarks) note(text string, as ...advice.Advice) {
	if text = r.masks.Mask(advise.With(text, as...)); r.isNew("note: " + text) {
		fmt.Fprintf(r.terminal.Err, "note: %s\n", text)
	}
}

func (r *remarks) isNew(text string) bool {
	_, made := r.made.LoadOrStore(text, true)
	return !made
}
