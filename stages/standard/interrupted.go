package standard

import (
	"github.com/sluice-iac/sluice/stages"
)

// refuseInterrupted says why the steps of a registration must not be taken: they would create what may exist already. A preview shows
// what would be done all the same, and that it would fail; nothing is asked of the provider. Steps that resolve the doubt learn
// that they do.
func (b *builder) refuseInterrupted(d stages.Diffed, steps []*stages.Decision) error {
	if d.InterruptedCreate == nil || d.Origin == stages.FromImport {
		return nil
	}
	for _, s := range steps {
		switch s.Op {
		case stages.OpCreate, stages.OpCreateReplacement, stages.OpRead, stages.OpReadReplacement:
		default:
			continue
		}
		switch {
		case !s.Answers:
		case d.InterruptedCreate.Again:
			s.Resolves = d.InterruptedCreate.URN
		case !d.InterruptedCreate.Open || s.IsRead():
		case b.DryRun():
			s.Kind = stages.Unasked
			err := &stages.InterruptedCreateError{URN: d.URN, Interrupted: d.InterruptedCreate.URN}
			b.Fail(d.Seq, d.URN, stages.CodePreviewFailed, err)
		default:
			return &stages.InterruptedCreateError{URN: d.URN, Interrupted: d.InterruptedCreate.URN}
		}
	}
	return nil
}
