package standard

import (
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
)

// refuseUnknown decides about a registration whose inputs are not known well enough to make the resource. Its steps are refused as
// a whole, or skipped if the value is missing because of a failure. The recorded state stays.
func (b *builder) refuseUnknown(d stages.Diffed, x pipeline.Exchange[Ask, stages.Built]) error {
	o, out := b.rooms.Decisions, stages.Built{Located: d.Located, Refusal: d.Unknown}
	var steps []*stages.Decision
	switch {
	case o.IsDeletedByClosure(d.Claimed):
		if d.Old == nil {
			d.Old = d.Claimed
		}
		d.Reason, _ = o.ReasonOf(d.Claimed)
		b.decisions.Remove(d.Claimed.URN, rooms.Deleted)
		b.decisions.Add(d.URN, rooms.Replaced)
		steps, out.After = b.replacement(d, true), o.DeletionsOf(d.Claimed)
	case d.Old == nil || d.Old.External:
		b.decisions.Add(d.URN, rooms.Created)
		steps = []*stages.Decision{b.step(d, stages.OpCreate)}
	default:
		b.decisions.Add(d.URN, rooms.Updated)
		steps = []*stages.Decision{b.step(d, stages.OpUpdate)}
	}
	out.Tasks = []stages.Task{{ID: b.rooms.Tasks.New(1), Steps: steps}}
	return b.commitTasks(d, steps, out, x)
}

// readUnknown decides about a read whose ID is unknown to the program. If it waits for a resource that is not part of the
// operation, it is left as it is recorded, and the program goes on without it.
func (b *builder) readUnknown(d stages.Diffed, why *stages.UnknownInputError, x pipeline.Exchange[Ask, stages.Built]) error {
	g := d.Read
	if why.Because == stages.SourceNotCreated {
		s := b.skippedCreate(d)
		b.decisions.LeaveUncreated(s.New)
		return b.commit(d, []*stages.Decision{s}, x)
	}
	b.decisions.Add(d.URN, rooms.Read)
	s := &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpRead, URN: d.URN, Type: g.Type, Old: d.Old, New: d.NewRead(), Provider: g.Provider, Reason: stages.Reason{Kind: stages.ReasonRead},
	}, Answers: true}
	steps := []*stages.Decision{s}
	return b.commitTasks(d, steps, stages.Built{
		Located: d.Located, Refusal: why, Tasks: []stages.Task{{ID: b.rooms.Tasks.New(1), Steps: steps}},
	}, x)
}
