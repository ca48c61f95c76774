package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ledger holds the steps of a run to a plan: each planned step may be used once (steps.md 12.4). Without a plan it allows everything.
type ledger struct {
	plan  *state.Plan // nil without a plan
	rooms *rooms.Rooms
	// left are the planned steps that have not been matched, by the URN of the resource in the plan.
	left map[urn.URN][]string
}

func newLedger(p *state.Plan, b *rooms.Rooms) ledger {
	l := ledger{plan: p, rooms: b, left: map[urn.URN][]string{}}
	if p != nil {
		for u, r := range p.Resources {
			l.left[u] = r.Ops
		}
	}
	return l
}

// isUncertain reports whether a planned replacement may turn out to be unnecessary. Pulumi's plans do not record that, but have the
// values that were unknown.
func (l *ledger) isUncertain(u urn.URN) bool {
	r := l.plan.Resources[u]
	return r.Uncertain || r.Goal != nil && (r.Goal.Inputs.Adds.HasUnknowns() || r.Goal.Inputs.Updates.HasUnknowns())
}

// stepFor returns the place of the planned step that an actual step may replace, among the steps of a resource that are left; false
// if there is none. It is the next one, with two exceptions. The delete of an old copy may come before or after the steps of the
// resource's registration: nothing orders them. And if the replacement of the resource is uncertain, it may be replaced for a
// reason of its own, in another order, and the object may be deleted because it is not declared any more, or as the old copy that
// it was before.
func (l *ledger) stepFor(of urn.URN, d *stages.Decision) (int, bool) {
	left := l.left[of]
	if !l.isUncertain(of) {
		i := l.nextFor(of, d)
		return i, allows(left[i], d.Op) || isOldCopy(d.Old) && deletes(left[i]) && deletes(string(d.Op))
	}
	i := placeFor(left, d.Op)
	if i < 0 && d.Op == stages.OpDelete && l.plan.Resources[of].Goal == nil {
		i = slices.Index(left, string(stages.OpDeleteReplaced))
	}
	if i < 0 && d.Op == stages.OpDeleteReplaced {
		i = slices.Index(left, string(stages.OpDelete))
	}
	return max(i, 0), i >= 0
}

// nextFor returns the place of the next planned step of the resource itself, or of one of its recorded old copies.
func (l *ledger) nextFor(of urn.URN, d *stages.Decision) int {
	left := l.left[of]
	if isOldCopy(d.Old) { // one of several may be discarded, because it was only read
		if i := slices.Index(left, string(d.Op)); i >= 0 {
			return i
		}
		return max(slices.IndexFunc(left, deletes), 0)
	}
	copies := 0
	for _, r := range l.rooms.Base.All[of] {
		if r.Delete {
			copies++
		}
	}
	last := 0
	for last < min(copies, len(left)-1) && deletes(left[last]) {
		last++
	}
	if i := placeFor(left[:last+1], d.Op); i >= 0 {
		return i
	}
	return last
}

// placeFor returns the first of the planned steps that an actual step may replace, or -1. A step of its own kind comes first, and those of a
// replacement come last: a delete among them may be that of an old copy.
func placeFor(planned []string, actual stages.Op) int {
	if i := slices.Index(planned, string(actual)); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(planned, func(p string) bool { return allows(p, actual) && !replaces(p) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(planned, func(p string) bool { return allows(p, actual) })
}

func isOldCopy(r *state.Resource) bool { return r != nil && r.Delete }

// consumeSame consumes the next planned step of an imported resource if the imported object is as declared: that needs no step. A
// planned delete stays: it may be that of the object that the import replaced.
func (l *ledger) consumeSame(u urn.URN) {
	if left := l.left[u]; len(left) > 0 && !deletes(left[0]) && allows(left[0], stages.OpSame) {
		l.left[u] = left[1:]
	}
}

// consume removes the next planned step of a resource from the list. It returns the violation if the actual step is not allowed in
// its place; the planned one is consumed all the same. why is the reason if the step has none of its own.
func (l *ledger) consume(of urn.URN, s *stages.Decision, why stages.Reason) *stages.PlanViolation {
	if l.plan == nil {
		return nil
	}
	if s.Reason.Kind != stages.ReasonNone {
		why = s.Reason
	}
	v := &stages.PlanViolation{URN: of, Now: string(s.Op)}
	if text := why.String(); text != "" {
		v.Now += " " + text
	}
	left, known := l.left[of]
	switch {
	case !known && s.Op == stages.OpSame:
		return nil
	case !known:
		v.Rule = fmt.Sprintf("%v is not allowed by the plan: no steps were expected for this resource", s.Op)
		v.Planned = "nothing: the plan does not name the resource"
		return v
	case len(left) == 0:
		v.Rule = fmt.Sprintf("%v is not allowed by the plan: no more steps were expected for this resource", s.Op)
		v.Planned = orNothing(l.plan.Resources[of].Ops) + ", and no more"
		return v
	}
	i, ok := l.stepFor(of, s)
	l.left[of] = slices.Concat(left[:i], left[i+1:])
	if ok {
		return nil
	}
	v.Rule = fmt.Sprintf("%v is not allowed by the plan: this resource is constrained to %v", s.Op, left[i])
	v.Planned = orNothing(l.plan.Resources[of].Ops)
	return v
}

// mayBeLeftOver reports whether the remaining planned steps of a resource are those of an uncertain replacement that turned out to
// be unnecessary. A resource that was to be declared must have been declared.
func (l *ledger) mayBeLeftOver(u urn.URN) bool {
	r, left := l.plan.Resources[u], l.left[u]
	if !l.isUncertain(u) || r.Goal != nil && len(left) == len(r.Ops) {
		return false
	}
	return !slices.ContainsFunc(left, func(planned string) bool { return !replaces(planned) })
}

// open returns a violation for each resource with planned steps that did not happen (steps.md 12.5). The delete of a resource that does not
// exist any more counts as unnecessary.
func (l *ledger) open() []*stages.PlanViolation {
	var out []*stages.PlanViolation
	for _, u := range slices.Sorted(maps.Keys(l.left)) {
		left, planned := l.left[u], l.plan.Resources[u].Ops
		if len(left) == 0 || len(left) == 1 && stages.Op(left[0]) == stages.OpDelete && len(l.rooms.Base.All[u]) == 0 || l.mayBeLeftOver(u) {
			continue
		}
		v := &stages.PlanViolation{
			URN: u, Rule: fmt.Sprintf("expected resource operations for %v but none were seen", u),
			Planned: orNothing(planned), Now: "nothing more happened to the resource",
		}
		if len(left) == len(planned) {
			v.Now = "nothing happened to the resource"
		}
		out = append(out, v)
	}
	return out
}

func orNothing(ops []string) string {
	if len(ops) == 0 {
		return "nothing"
	}
	return strings.Join(ops, ", then ")
}
