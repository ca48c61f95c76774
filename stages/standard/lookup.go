package standard

import (
	"context"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
)

// namer finds names and recorded states for registrations.
type namer struct {
	control  *control.Control
	names    *rooms.NamesWriter
	registry *providers.Registry
}

// stage returns the stage that owns names. It numbers registrations in order of arrival, gives each its URN, and finds
// the recorded state that it continues, under its own URN or an alias (steps.md 2). The first claim wins; a second one is
// an error. The stage has one writer, calls no provider, and takes microseconds.
func (n *namer) stage() pipeline.Stage[stages.Registered, stages.Located] {
	return pipeline.Stage[stages.Registered, stages.Located]{
		Name:    "lookup",
		Workers: 1,
		Buffer:  64,
		Run: func(_ context.Context, in stages.Registered, emit pipeline.Emit[stages.Located]) error {
			l, code, err := n.names.Locate(in)
			switch {
			case err != nil && l.Goal != nil && (code == stages.CodeDuplicateAlias || code == stages.CodeURNIsAlias):
				// Its inputs are still checked, so that more problems are shown at once (steps.md 2.4).
				n.control.DiagnoseRegistration(l, code, err.Error(), advice.Of(err)...)
				l.Invalid = err
			case err != nil:
				if stops := n.control.PassOn(&l, n.control.FailRegistration(l, code, err)); stops != nil {
					return stops
				}
				if !n.names.IsOf(l) {
					answerUnnamed(l, err)
					return nil // nothing waits for it
				}
			}
			if l.Course == stages.Managed && n.control.DryRun() && n.names.LacksProvider(l) {
				l.Course, l.Reply = stages.Refused, &stages.RegisterReply{URN: l.URN, Result: stages.Skip}
			}
			if l.Alias != "" && in.Subject().Type.IsProvider() {
				n.registry.Alias(l.Alias, l.URN)
			}
			return emit(l)
		},
	}
}

// answerUnnamed answers a registration that has failed in a preview and has no URN to itself: with the URN of the other registration that has it,
// or with the error.
func answerUnnamed(l stages.Located, err error) {
	if l.URN == "" {
		l.PendingReply.Reject(err)
		return
	}
	l.PendingReply.Answer(l.Reply)
}
