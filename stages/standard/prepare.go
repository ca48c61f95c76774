package standard

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/recovery"
	"github.com/sluice-iac/sluice/stages/internal/refresh"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
)

// Reads defines which recorded states are read from their providers before the program starts.
type Reads int

const (
	// ReadNothing reads no state.
	ReadNothing Reads = iota
	// ReadMarked reads the states whose providers require it (steps.md 3.15).
	ReadMarked
	// ReadAll reads every state that is part of the operation (steps.md 7.1, 7.3).
	ReadAll
	// ReadInterrupted reads the objects of interrupted updates and deletes (state.md 9.4 R-8). An operation whose object cannot be
	// read stays pending. Interrupted reads and imports have changed nothing and are dropped. The objects of interrupted creates
	// are looked for.
	ReadInterrupted
)

// Preparation defines the work of a run before its program starts.
type Preparation struct {
	Reads Reads
	// Resolve returns the resolution of each interrupted create (state.md 9.4 R-6). Nil, and the zero resolution, leave
	// it pending. An object that cannot be read fails the run, and its create stays pending too.
	Resolve func(state.Pending) stages.CreateResolution
}

// draft is the work of a run before its base is made, on rooms of its own.
type draft struct {
	settings stages.Settings
	control  *control.Control
	rooms    *rooms.Rooms
	access   *access.Access
	executor *step.Executor
	targets  *targeting.Targets
	recorded *state.Snapshot
}

func (d *draft) refresher() *refresh.Refresher {
	return &refresh.Refresher{
		Control: d.control, Rooms: d.rooms, Reporter: d.executor.Reporter, Recorded: d.recorded,
		Reader: &refresh.Reader{
			Control: d.control, Rooms: d.rooms, Access: d.access, Reporter: d.executor.Reporter, Views: d.executor.Views,
			LegacyRefreshDiff: d.settings.Legacy.RefreshDiff,
		},
	}
}

func (d *draft) recoverer() *recovery.Recoverer {
	return &recovery.Recoverer{Control: d.control, Rooms: d.rooms, Access: d.access, Executor: d.executor, Recorded: d.recorded}
}

func (d *draft) read(ctx context.Context, reads Reads) (refresh.Refreshed, error) {
	selected := d.rooms.Refreshable()
	switch reads {
	case ReadInterrupted:
		return d.refresher().ResolveChanges(ctx)
	case ReadAll:
		if len(d.recorded.Resources) > 0 {
			if err := d.targets.CheckTargets(); err != nil {
				return refresh.Refreshed{Snapshot: d.recorded}, err
			}
		}
		return d.refresher().Refresh(ctx, selected)
	case ReadMarked:
		return d.refresher().Refresh(ctx, func(res *state.Resource) bool {
			in := selected(res)                  // it must be called with every state
			return in && res.RefreshBeforeUpdate // old copies, too, which alone are no reason to read anything
		})
	}
	return refresh.Refreshed{Snapshot: d.recorded}, nil
}

// answer returns the resolution of an interrupted create by resolve, which may be nil.
func (d *draft) answer(resolve func(state.Pending) stages.CreateResolution, op state.Pending) recovery.Answer {
	if resolve == nil {
		resolve = func(state.Pending) stages.CreateResolution { return stages.CreateResolution{} }
	}
	is := recovery.Answer{Resolution: resolve(op)}
	switch {
	case is.Resolution.ID != "":
		is.Why = "its ID was given"
	case is.Resolution.Clear:
		is.Why = "it was said to have made nothing"
	}
	return is
}

// answerOrFind looks for the objects of creates for which resolve has no resolution, or assumes that they have made nothing.
func (d *draft) answerOrFind(resolve func(state.Pending) stages.CreateResolution, op state.Pending) recovery.Answer {
	is := d.answer(resolve, op)
	if is.Resolution.ID != "" {
		return is
	}
	found := d.recoverer().FindCreated(op)
	if is.Resolution.Clear && !found.Resolution.Clear && found.Resolution.ID == "" {
		return is
	}
	return found
}
