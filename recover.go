package sluice

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Recover settles what earlier operations began and did not end, because they were cut off or a plugin died (state.md 9.4,
// 9.6). Nothing else is touched, no object is changed, and the program does not run.
//
//   - Interrupted reads and imports are dropped: they change nothing.
//   - Updates and deletes are settled by reading the object.
//   - Creates are settled as [Options.ResolveCreate] says, which may be nil. One about which it says nothing, or which it
//     assumes to have made nothing, is looked for first, by the name that was made up for it; what is found is recorded. That
//     works where the provider can read an object by its name.
//
// What cannot be settled stays among the pending operations of the state. Journals have been recovered before, by whoever
// opened the stack.
func (e *Engine) Recover(ctx context.Context) (*Result, error) {
	r := *e
	r.options.RunProgram = false
	if r.options.ResolveCreate == nil {
		r.options.ResolveCreate = func(state.Pending) stages.CreateResolution { return stages.CreateResolution{} }
	}
	return r.operate(ctx, operation{name: "recover", mode: stages.ModeRefresh, recovers: true})
}

// Recover settles what earlier operations began and did not end; see [Engine.Recover].
func Recover(ctx context.Context, o Options) (*Result, error) { return Standard(o).Recover(ctx) }
