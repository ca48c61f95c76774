package stages

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/urn"
)

// allows tells whether a step may be taken where another kind was planned (steps.md 12.4): less than planned is allowed.
func allows(planned string, actual Op) bool {
	switch Op(planned) {
	case OpCreate:
		return actual == OpSame || actual == OpCreate
	case OpUpdate:
		return actual == OpSame || actual == OpUpdate
	case OpReplace, OpCreateReplacement, OpDeleteReplaced:
		return actual == OpSame || actual == OpUpdate || actual == Op(planned)
	}
	return string(actual) == planned
}

// take crosses the next planned step of a resource out. It returns the violation if the actual step is not allowed in its
// place; the planned one is crossed out all the same. why is the reason if the step has none of its own.
func (p *plans) take(of urn.URN, s *Step, why Reason) *PlanViolation {
	if p.held == nil {
		return nil
	}
	if s.Reason.Kind != ReasonNone {
		why = s.Reason
	}
	v := &PlanViolation{URN: of, Now: string(s.Op)}
	if text := why.String(); text != "" {
		v.Now += " " + text
	}
	left, known := p.left[of]
	switch {
	case !known && s.Op == OpSame:
		return nil
	case !known:
		v.Rule = fmt.Sprintf("%v is not allowed by the plan: no steps were expected for this resource", s.Op)
		v.Planned = "nothing: the plan does not name the resource"
		return v
	case len(left) == 0:
		v.Rule = fmt.Sprintf("%v is not allowed by the plan: no more steps were expected for this resource", s.Op)
		v.Planned = orNothing(p.held.Resources[of].Ops) + ", and no more"
		return v
	}
	p.left[of] = left[1:]
	if allows(left[0], s.Op) {
		return nil
	}
	v.Rule = fmt.Sprintf("%v is not allowed by the plan: this resource is constrained to %v", s.Op, left[0])
	v.Planned = orNothing(p.held.Resources[of].Ops)
	return v
}

// holdAnew is holdToPlan for what a delete-before-replace of something else has deleted and the program declares again.
func (b *builder) holdAnew(d Diffed) error {
	if b.run.plans.held == nil {
		return nil
	}
	if v := b.run.violationOf(d.Checked); v != nil {
		return b.run.bail(d.Located, 0, v)
	}
	return nil
}

// CheckPlanFulfilled reports what was planned and did not happen, once everything else has succeeded (steps.md 12.5). The
// delete of what is gone already was not needed.
func (r *Run) CheckPlanFulfilled() {
	if r.plans.held == nil || r.IsHalted() || r.failures.any() {
		return
	}
	for _, u := range slices.Sorted(maps.Keys(r.plans.left)) {
		left := r.plans.left[u]
		if len(left) == 0 || len(left) == 1 && Op(left[0]) == OpDelete && len(r.base.all[u]) == 0 {
			continue
		}
		v := &PlanViolation{
			URN: u, Rule: fmt.Sprintf("expected resource operations for %v but none were seen", u),
			Planned: orNothing(r.plans.held.Resources[u].Ops), Now: "nothing more happened to the resource",
		}
		if len(left) == len(r.plans.held.Resources[u].Ops) {
			v.Now = "nothing happened to the resource"
		}
		r.diagnose(u, Error, codeFailed, v.Error())
		r.failures.add(Failure{URN: u, Err: v})
	}
}
