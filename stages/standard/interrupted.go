package standard

import (
	"github.com/sluice-iac/sluice/stages"
)

// refuseInterrupted returns why the steps of a registration must not run: they would create an object that may exist
// already. A preview still shows the steps, and that they would fail; it does not call the provider. Steps that resolve
// the interrupted creates are marked.
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
		case b.control.DryRun():
			s.Kind = stages.NotCalled
			err := &stages.InterruptedCreateError{URN: d.URN, Interrupted: d.InterruptedCreate.URN}
			b.control.Fail(d.Seq, d.URN, stages.CodePreviewFailed, err)
		default:
			return &stages.InterruptedCreateError{URN: d.URN, Interrupted: d.InterruptedCreate.URN}
		}
	}
	return nil
}
