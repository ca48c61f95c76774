package targeting

import (
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Uncreated reports a step whose resource depends on one that is not created because it is not part of the operation
// (steps.md 6.4). An update is refused before the step runs, because its state could not be recorded with a reference to a missing
// resource; its preview warns. A preview reports each such resource: which of them comes first is a matter of timing.
func (t *Targets) Uncreated(l stages.Located, steps []*stages.Decision) error {
	sel := t.Rooms.Targeting
	targeted := sel.Targets.IsConstrained() || sel.Replace.IsConstrained()
	if !targeted && !sel.Excludes.IsConstrained() {
		return nil
	}
	var said urn.URN // a replacement has several steps
	for _, s := range steps {
		missing := t.Rooms.MissingFrom(s)
		if missing == "" || s.URN == said {
			continue
		}
		code, err := stages.CodeUntargetedCreate, advice.Errorf(
			advice.On(advice.TargetNeeded, t.Rooms.Decisions.MissingFor(s.New)...),
			"Resource '%v' depends on '%v' which was not specified in --target list.", s.URN, missing)
		if !targeted {
			code, err = 0, advice.Errorf(advice.On(advice.ExcludeDependents),
				"resource %q depends on %q, which does not exist and is excluded from the operation: exclude both, or neither", s.URN, missing)
		}
		if !t.Control.DryRun() {
			return t.Control.Bail(l, code, err)
		}
		said = s.URN
		if !targeted {
			t.Control.Warn(s.URN, "%w", err)
			continue
		}
		t.Control.Fail(l.Seq, s.URN, code, err)
	}
	return nil
}
