package standard

import (
	"context"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
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

// Prepare brings the recorded state up to date before the program starts, and makes the base of the run from it. It reads all
// states at once. A failure does not stop the others, and the results are recorded and kept. Prepare refuses targets that do not
// exist as far as that is known without the program. It is called once, after all checks that can refuse the operation.
func (r *Run) Prepare(ctx context.Context, p Preparation) error {
	now := r.asRecorded()
	if p.Reads == ReadMarked && !slices.ContainsFunc(now.Resources, asksToBeRead) {
		p.Reads = ReadNothing
	}
	var err error
	if p.Reads != ReadNothing || p.Resolve != nil && slices.ContainsFunc(now.Pending, state.Pending.IsInterruptedCreate) {
		now, err = r.bringUpToDate(ctx, p)
		r.writers.Base.Open(now)
	} else {
		r.writers.Base.Open(now)
		err = checkTargets(r.targets, r.settings.Mode)
	}
	if err != nil {
		return err
	}
	return r.targets.CheckReplaceTargets()
}

func (r *Run) asRecorded() rooms.Recorded { return rooms.Recorded{Snapshot: r.settings.Base} }

// asksToBeRead reports whether a provider requires that the state is read before every update (steps.md 3.15).
func asksToBeRead(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }

// checkTargets refuses targets that are not recorded, for operations on recorded resources only.
func checkTargets(t *targeting.Targets, mode stages.Mode) error {
	if mode == stages.ModeUpdate {
		return nil
	}
	return t.CheckTargets()
}

// bringUpToDate returns the recorded state after reading and resolving, also together with an error.
func (r *Run) bringUpToDate(ctx context.Context, p Preparation) (now rooms.Recorded, err error) {
	now = r.asRecorded()
	d := r.draftOf(now.Snapshot)
	if err := checkTargets(d.targets, r.settings.Mode); err != nil {
		return now, err
	}
	found, err := d.read(ctx, p.Reads)
	now.Snapshot, now.Vanished, r.resolved = found.Snapshot, found.Vanished, found.Changes
	if err != nil {
		return now, err
	}
	resolve, finds := p.Resolve, p.Reads == ReadInterrupted
	if resolve == nil && !finds {
		return now, nil
	}
	if found.Snapshot != d.recorded {
		d = r.draftOf(found.Snapshot)
	}
	answer := d.answer
	if finds {
		answer = d.answerOrFind
	}
	out, err := d.recoverer().ResolveCreates(ctx, func(op state.Pending) recovery.Answer { return answer(resolve, op) })
	now.Snapshot, now.Again, r.resolved = out.Snapshot, out.Again, append(r.resolved, out.Creates...)
	return now, err
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

func (r *Run) draftOf(s *state.Snapshot) *draft {
	b, w := rooms.NewDraft(r.settings, r.rooms.Outcomes, r.writers.Steps.Outcomes)
	w.Base.Open(rooms.Recorded{Snapshot: s})
	a := &access.Access{Control: r.control, Rooms: b, Registry: r.settings.Registry, Extensions: r.access.Extensions}
	return &draft{
		settings: r.settings, control: r.control, rooms: b, access: a, recorded: s,
		executor: r.executor.On(b, w.Steps, a, plan.NewPlans(r.control, b, r.settings)),
		targets:  &targeting.Targets{Control: r.control, Rooms: b},
	}
}

func (d *draft) refresher() *refresh.Refresher {
	return &refresh.Refresher{
		Control: d.control, Rooms: d.rooms, Targets: d.targets, Executor: d.executor, Recorded: d.recorded,
		Reader: &refresh.Reader{
			Control: d.control, Rooms: d.rooms, Access: d.access, Executor: d.executor, LegacyRefreshDiff: d.settings.Legacy.RefreshDiff,
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
	is := recovery.Answer{CreateResolution: resolve(op)}
	switch {
	case is.ID != "":
		is.Why = "its ID was given"
	case is.Clear:
		is.Why = "it was said to have made nothing"
	}
	return is
}

// answerOrFind looks for the objects of creates for which resolve has no resolution, or assumes that they have made nothing.
func (d *draft) answerOrFind(resolve func(state.Pending) stages.CreateResolution, op state.Pending) recovery.Answer {
	is := d.answer(resolve, op)
	if is.ID != "" {
		return is
	}
	found := d.recoverer().FindCreated(op)
	if is.Clear && !found.Clear && found.ID == "" {
		return is
	}
	return found
}
