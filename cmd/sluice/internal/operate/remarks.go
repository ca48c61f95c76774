package operate

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/told"
	"github.com/sluice-iac/sluice/property/redact"
)

// remarks shows each remark only once, although both phases of an operation may produce it. It is safe for concurrent
// use.
type remarks struct {
	terminal *terminal.Terminal
	masks    *redact.Set // nil if secrets are shown
	told     *told.Stack // remarks of earlier operations on the stack
	made     sync.Map
}

func (r *remarks) warn(format string, args ...any) {
	if text := r.masks.Mask(fmt.Sprintf(format, args...)); r.isNew("warning: " + text) {
		r.terminal.Warn("%s", text)
	}
}

// warnOnce is warn for lasting conditions: it warns once for a stack, and not in every operation.
func (r *remarks) warnOnce(format string, args ...any) {
	if text := r.masks.Mask(fmt.Sprintf(format, args...)); r.isNew("warning: "+text) && r.told.First(text) {
		r.terminal.Warn("%s", text)
	}
}

// note shows a remark that is not a warning. A remark about a built-in provider is shown once for a stack.
func (r *remarks) note(text string, as ...advice.Advice) {
	once := slices.ContainsFunc(as, func(a advice.Advice) bool { return a.Action == advice.RefuseBuiltins })
	if text = r.masks.Mask(r.terminal.Named(advise.With(text, as...))); r.isNew("note: "+text) && (!once || r.told.First(text)) {
		fmt.Fprintf(r.terminal.Err, "note: %s\n", text)
	}
}

func (r *remarks) isNew(text string) bool {
	_, made := r.made.LoadOrStore(text, true)
	return !made
}
