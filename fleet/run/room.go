package run

import (
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/spec"
)

// room limits the stacks that run at once, and those of one workflow.
type room struct {
	request Request
	running map[string]StackView
	used    map[string]int // by limit
	begun   int            // the number of stacks begun in this workflow
}

// has reports whether a stack may begin.
func (r *room) has(ctx workflow.Context, s spec.Stack) bool {
	if len(r.running) >= r.request.Concurrency || r.isFull(ctx) {
		return false
	}
	for _, l := range s.Limits {
		if most, limited := r.request.Limits[l]; limited && r.used[l] >= most {
			return false
		}
	}
	return true
}

// isFull reports whether the history of this workflow is long enough.
func (r *room) isFull(ctx workflow.Context) bool {
	each := r.request.Options.Each
	return each > 0 && r.begun >= each || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

func (r *room) begin(s spec.Stack, o Outcome) {
	r.begun++
	for _, l := range s.Limits {
		r.used[l]++
	}
	r.running[s.Name] = StackView{Name: s.Name, Outcome: o}
}

// end returns the stack as it was while it ran.
func (r *room) end(s spec.Stack) StackView {
	was := r.running[s.Name]
	delete(r.running, s.Name)
	for _, l := range s.Limits {
		r.used[l]--
	}
	return was
}
