package standard

import (
	"context"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Reads says what of the recorded state is read from its providers before the program starts.
type Reads int

const (
	// ReadNothing leaves everything as it is recorded.
	ReadNothing Reads = iota
	// ReadMarked reads the states whose providers ask for it (steps.md 3.15).
	ReadMarked
	// ReadAll reads every state that the operation is about (steps.md 7.1, 7.3).
	ReadAll
	// ReadInterrupted reads what an earlier run began to update or delete and did not end (state.md 9.4 R-8). What cannot be read
	// stays pending. Interrupted reads and imports have changed nothing and are dropped. Interrupted creates are looked for.
	ReadInterrupted
)

// Preparation is what a run does before its program starts.
type Preparation struct {
	Reads Reads
	// Resolve says what is to be done about each create that an earlier run began and whose end nobody knows (state.md 9.4 R-6);
	// nil, and what it says nothing about, leaves it. An object that cannot be read fails the run, and its create stays as well.
	Resolve func(state.Pending) stages.CreateResolution
}

// Prepare brings the base of the run up to date before the program starts. States are read all at once; a failure does not
// stop the others, and what was read is recorded and kept. It refuses targets that do not exist as far as that is known without
// the program.
func (r *Run) Prepare(ctx context.Context, p Preparation) error {
	if r.settings.Mode != stages.ModeUpdate {
		if err := r.targets.CheckTargets(); err != nil {
			return err
		}
	}
	if err := r.read(ctx, p.Reads); err != nil {
		return err
	}
	resolve := p.Resolve
	if p.Reads == ReadInterrupted {
		resolve = r.resolveOrFind(resolve)
	}
	if err := r.recoverer().ResolveCreates(ctx, resolve); err != nil {
		return err
	}
	return r.targets.CheckReplaceTargets()
}

func (r *Run) read(ctx context.Context, reads Reads) error {
	selected := r.book.Refreshable()
	switch reads {
	case ReadInterrupted:
		return r.recoverer().ResolveChanges(ctx)
	case ReadAll:
		return r.refresher().Refresh(ctx, selected)
	case ReadMarked:
		if !slices.ContainsFunc(r.settings.Base.Resources, asksToBeRead) {
			return nil
		}
		return r.refresher().Refresh(ctx, func(res *state.Resource) bool {
			in := selected(res)                  // it grows by what it is asked about
			return in && res.RefreshBeforeUpdate // old copies, too, which alone are no cause for reading anything
		})
	}
	return nil
}

// asksToBeRead reports whether a provider asked for the state to be read before every update (steps.md 3.15).
func asksToBeRead(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }

// resolveOrFind looks for what creates have made about which resolve says nothing, or which it assumes to have made nothing.
func (r *Run) resolveOrFind(resolve func(state.Pending) stages.CreateResolution) func(state.Pending) stages.CreateResolution {
	return func(op state.Pending) stages.CreateResolution {
		var is stages.CreateResolution
		if resolve != nil {
			is = resolve(op)
		}
		if is.ID != "" {
			return is
		}
		id, absent := r.recoverer().FindCreated(op)
		return stages.CreateResolution{Clear: is.Clear || absent, ID: id}
	}
}
