package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// allows reports whether a step may be executed where another kind was planned (steps.md 12.4): a smaller change than planned is
// allowed.
func allows(planned string, actual stages.Op) bool {
	switch stages.Op(planned) {
	case stages.OpCreate:
		return actual == stages.OpSame || actual == stages.OpCreate
	case stages.OpUpdate:
		return actual == stages.OpSame || actual == stages.OpUpdate
	case stages.OpReplace, stages.OpCreateReplacement, stages.OpDeleteReplaced:
		return actual == stages.OpSame || actual == stages.OpUpdate || actual == stages.Op(planned)
	}
	return string(actual) == planned
}

// replaces reports whether a planned step is part of a replacement.
func replaces(planned string) bool {
	switch stages.Op(planned) {
	case stages.OpReplace, stages.OpCreateReplacement, stages.OpDeleteReplaced, stages.OpRemovePendingReplace:
		return true
	}
	return false
}

// isUncertain reports whether a planned replacement may turn out to be unnecessary. Pulumi's plans do not record that, but have the
// values that were unknown.
func (p *Plans) isUncertain(u urn.URN) bool {
	r := p.held.Resources[u]
	return r.Uncertain || r.Goal != nil && (r.Goal.Inputs.Adds.HasUnknowns() || r.Goal.Inputs.Updates.HasUnknowns())
}

// stepFor returns the place of the planned step that an actual step may replace, among the steps of a resource that are left; false
// if there is none. It is the next one, with two exceptions. The delete of an old copy may come before or after the steps of the
// resource's registration: nothing orders them. And if the replacement of the resource is uncertain, it may be replaced for a
// reason of its own, in another order, and the object may be deleted because it is not declared any more, or as the old copy that
// it was before.
func (p *Plans) stepFor(of urn.URN, d *stages.Decision) (int, bool) {
	left, actual := p.left[of], d.Op
	if !p.isUncertain(of) {
		i := p.nextFor(of, d)
		return i, allows(left[i], actual) || isOldCopy(d.Old) && deletes(left[i]) && deletes(string(actual))
	}
	if i := slices.Index(left, string(actual)); i >= 0 {
		return i, true
	}
	i := slices.IndexFunc(left, func(planned string) bool {
		switch {
		case actual == stages.OpDelete:
			return planned == string(stages.OpDeleteReplaced) && p.held.Resources[of].Goal == nil
		case actual == stages.OpDeleteReplaced:
			return planned == string(stages.OpDelete)
		}
		return allows(planned, actual)
	})
	return max(i, 0), i >= 0
}

// nextFor returns the place of the next planned step of the resource itself, or of one of its recorded old copies.
func (p *Plans) nextFor(of urn.URN, d *stages.Decision) int {
	left := p.left[of]
	if isOldCopy(d.Old) {
		return max(slices.IndexFunc(left, deletes), 0)
	}
	copies := 0
	for _, r := range p.rooms.Base.All[of] {
		if r.Delete {
			copies++
		}
	}
	i := 0
	for i < min(copies, len(left)-1) && deletes(left[i]) && !allows(left[i], d.Op) {
		i++
	}
	return i
}

func isOldCopy(r *state.Resource) bool { return r != nil && r.Delete }

// deletes reports whether a planned step deletes an object.
func deletes(planned string) bool {
	return planned == string(stages.OpDelete) || planned == string(stages.OpDeleteReplaced)
}

// consumeSame consumes the next planned step of an imported resource if the imported object is as declared: that needs no step. A
// planned delete stays: it may be that of the object that the import replaced.
func (p *Plans) consumeSame(u urn.URN) {
	if left := p.left[u]; len(left) > 0 && !deletes(left[0]) && allows(left[0], stages.OpSame) {
		p.left[u] = left[1:]
	}
}

// consume removes the next planned step of a resource from the list. It returns the violation if the actual step is not allowed in
// its place; the planned one is consumed all the same. why is the reason if the step has none of its own.
func (p *Plans) consume(of urn.URN, s *stages.Decision, why stages.Reason) *stages.PlanViolation {
	if p.held == nil {
		return nil
	}
	if s.Reason.Kind != stages.ReasonNone {
		why = s.Reason
	}
	v := &stages.PlanViolation{URN: of, Now: string(s.Op)}
	if text := why.String(); text != "" {
		v.Now += " " + text
	}
	left, known := p.left[of]
	switch {
	case !known && s.Op == stages.OpSame:
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
	i, ok := p.stepFor(of, s)
	p.left[of] = slices.Concat(left[:i], left[i+1:])
	if ok {
		return nil
	}
	v.Rule = fmt.Sprintf("%v is not allowed by the plan: this resource is constrained to %v", s.Op, left[i])
	v.Planned = orNothing(p.held.Resources[of].Ops)
	return v
}

// HoldAnew is HoldToPlan for a member of a closure, deleted by a delete-before-replace, that the program declares again.
func (p *Plans) HoldAnew(d stages.Diffed) error {
	if p.held == nil {
		return nil
	}
	if v := p.violationOf(d.Checked); v != nil {
		return p.control.Bail(d.Located, 0, v)
	}
	return nil
}

// mayBeLeftOver reports whether the remaining planned steps of a resource are those of an uncertain replacement that turned out to
// be unnecessary. A resource that was to be declared must have been declared.
func (p *Plans) mayBeLeftOver(u urn.URN) bool {
	r, left := p.held.Resources[u], p.left[u]
	if !p.isUncertain(u) || r.Goal != nil && len(left) == len(r.Ops) {
		return false
	}
	return !slices.ContainsFunc(left, func(planned string) bool { return !replaces(planned) })
}

// CheckPlanFulfilled reports the planned steps that did not happen, once everything else has succeeded (steps.md 12.5). The delete
// of a resource that does not exist any more counts as unnecessary.
func (p *Plans) CheckPlanFulfilled() {
	if p.held == nil || p.control.IsHalted() || p.control.HasFailed() {
		return
	}
	for _, u := range slices.Sorted(maps.Keys(p.left)) {
		left := p.left[u]
		if len(left) == 0 || len(left) == 1 && stages.Op(left[0]) == stages.OpDelete && len(p.rooms.Base.All[u]) == 0 || p.mayBeLeftOver(u) {
			continue
		}
		v := &stages.PlanViolation{
			URN: u, Rule: fmt.Sprintf("expected resource operations for %v but none were seen", u),
			Planned: orNothing(p.held.Resources[u].Ops), Now: "nothing more happened to the resource",
		}
		if len(left) == len(p.held.Resources[u].Ops) {
			v.Now = "nothing happened to the resource"
		}
		p.control.Fail(0, u, stages.CodeFailed, v)
	}
}
