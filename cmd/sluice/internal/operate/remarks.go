package operate

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/shown"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/property/redact"
)

// remarks shows each remark only once, although both phases of an operation may produce it. It is safe for concurrent
// use.
type remarks struct {
	terminal *terminal.Terminal
	masks    *redact.Set  // nil if secrets are shown
	shown    *shown.Stack // remarks of earlier operations on the stack
	made     sync.Map
	builtins sync.Map // the names of the built-in packages that have served
}

func (r *remarks) warn(format string, args ...any) {
	if text := r.masks.Mask(fmt.Sprintf(format, args...)); r.isNew("warning: " + text) {
		r.terminal.Warn("%s", text)
	}
}

// warnOnce is warn for lasting conditions: it warns once for a stack, and not in every operation.
func (r *remarks) warnOnce(format string, args ...any) {
	if text := r.masks.Mask(fmt.Sprintf(format, args...)); r.isNew("warning: "+text) && r.shown.First(text) {
		r.terminal.Warn("%s", text)
	}
}

// note shows a remark that is not a warning. It collects the remarks about built-in providers for [remarks.noteBuiltins].
func (r *remarks) note(text string, as ...advice.Advice) {
	for _, a := range as {
		if a.Action == advice.RefuseBuiltins {
			r.builtins.Store(a.Plugin.Name, true)
			return
		}
	}
	if text = r.masks.Mask(r.terminal.Named(advise.With(text, as...))); r.isNew("note: " + text) {
		fmt.Fprintf(r.terminal.Err, "note: %s\n", text)
	}
}

// noteBuiltins shows one remark about the built-in providers that have served so far. A package is mentioned once for a stack.
func (r *remarks) noteBuiltins() {
	var names []string
	r.builtins.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		text := "built in: " + name
		return !r.isNew(text) || !r.shown.First(text)
	})
	if len(names) == 0 {
		return
	}
	what, need := "the package ", "it needs no plugin"
	if len(names) > 1 {
		what, need = "the packages ", "they need no plugins"
	}
	last := len(names) - 1
	if list := strings.Join(names[:last], ", "); list != "" {
		what += list + " and "
	}
	text := "sluice serves " + what + names[last] + " itself, so " + need
	fmt.Fprintf(r.terminal.Err, "note: %s\n", advise.With(text, advice.On(advice.RefuseBuiltins)))
}

func (r *remarks) isNew(text string) bool {
	_, made := r.made.LoadOrStore(text, true)
	return !made
}
