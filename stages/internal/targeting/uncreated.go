package targeting

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Uncreated reports a step whose resource depends on something that is not created because it is not part of the
// operation (steps.md 6.4). With excludes alone the rules say nothing of it. A state that refers to what does not exist
// cannot be recorded, so an update is refused then too, before the step is taken; its preview warns. A preview says so of
// each resource: which of them comes first is a matter of timing.
func (r *Targets) Uncreated(l stages.Located, steps []*stages.Decision) error {
	sel := r.Targeting
	targeted := sel.Targets.IsConstrained() || sel.Replace.IsConstrained()
	if !targeted && !sel.Excludes.IsConstrained() {
		return nil
	}
	var said urn.URN // a replacement has several steps
	for _, s := range steps {
		missing := r.MissingFrom(s)
		if missing == "" || s.URN == said {
			continue
		}
		code, err := stages.CodeUntargetedCreate, fmt.Errorf("Resource '%v' depends on '%v' which was not specified in --target list.\nAdd what it needs: %s",
			s.URN, missing, TargetFlags(r.Outcomes.MissingFor(s.New)))
		if !targeted {
			code, err = 0, fmt.Errorf("resource %q depends on %q, which does not exist and is excluded from the operation: exclude both, "+
				"for example with --exclude-dependents, or neither", s.URN, missing)
		}
		if !r.DryRun() {
			return r.Bail(l, code, err)
		}
		said = s.URN
		if !targeted {
			r.Warn(s.URN, "%v", err)
			continue
		}
		r.Fail(l.Seq, s.URN, code, err)
	}
	return nil
}

// TargetFlags are the flags that make resources targets.
func TargetFlags(us []urn.URN) string {
	flags := make([]string, len(us))
	for i, u := range us {
		flags[i] = "--target " + u.ShellQuoted()
	}
	return strings.Join(flags, " ")
}
