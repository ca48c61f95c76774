package simulate

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// excuse is the reason why the outcome of an operation may depend on timing; "" if it may not (decision 0002, its last
// section).
type excuse string

const (
	// mustBeEqual operations have no excuse.
	mustBeEqual excuse = ""
	// interrupted operations were stopped by an interrupt.
	interrupted excuse = "interrupted"
	// stopped operations were stopped by a failure while other steps were running.
	stopped excuse = "stopped by the first failure"
	// arrival operations have a program whose registrations arrive in any order, and that order decides which
	// delete-before-replace includes a dependent, or whose name counts.
	arrival excuse = "order of arrival"
	// shared operations manage or read one object under two names at once. Which one gets the other's change depends on
	// timing, and the preview of one that is read later cannot predict it. That is due to the cloud; the engine makes no
	// promise about it.
	shared excuse = "two resources share an object"
)

// excuseOf returns the excuse of an operation, from all its attempts.
func excuseOf(attempts []*attempt) excuse {
	out := mustBeEqual
	for _, a := range attempts {
		switch {
		case a.wasInterrupted():
			return interrupted
		case a.wasStopped():
			out = stopped
		case out == mustBeEqual && a.op.Manner != Serial && a.sharesObjects():
			out = shared
		case out == mustBeEqual && a.op.Manner == Eager && a.dependsOnArrival():
			out = arrival
		}
	}
	return out
}

func (a *attempt) wasInterrupted() bool {
	return a.op.Interrupt > 0 && len(a.events) >= a.op.Interrupt || a.journal.crashed()
}

// wasStopped reports whether other steps may have been running when a failure stopped the run. In a serial program, the only
// such steps are deletes: those of a delete-before-replace and those of the end phase.
func (a *attempt) wasStopped() bool {
	if a.err == nil {
		return false
	}
	if a.op.runsProgram() && a.op.Manner == Serial && !a.failedLate && (a.op.ContinueOnError || !a.failedInClosure()) {
		return false
	}
	if a.op.Throw > 0 && a.op.runsProgram() {
		return true
	}
	if !a.op.ContinueOnError {
		return true
	}
	// With continue-on-error, only failures that are not steps stop the run: a refusal by a check, a policy or a decision,
	// and an object that cannot be read before that.
	failed := 0
	for _, e := range a.events {
		if f, ok := e.(stages.StepFailed); ok && f.Step.Op != stages.OpRefresh {
			failed++
		}
	}
	for _, text := range a.errors() {
		if strings.Contains(text, "an earlier operation was interrupted while creating") || strings.Contains(text, "nothing is done about") {
			failed++ // the resource fails, without a step
		}
	}
	return failed < len(a.errors())
}

// failedInClosure reports whether a delete of a delete-before-replace has failed: before the end of the program, there are no others.
func (a *attempt) failedInClosure() bool {
	return slices.ContainsFunc(a.events, func(e stages.Event) bool {
		f, ok := e.(stages.StepFailed)
		return ok && stages.Removes(f.Step.Op)
	})
}

// dependsOnArrival reports whether a program with registrations in any order has a result that depends on the order.
func (a *attempt) dependsOnArrival() bool {
	if slices.ContainsFunc(a.errors(), func(e string) bool {
		return strings.Contains(e, "Duplicate resource") || strings.Contains(e, "has not been registered yet")
	}) {
		return true
	}
	if a.op.Do == Destroy && a.dependsOnComponents() {
		return true // it depends on the children declared before it (steps.md 5.3)
	}
	if a.result == nil {
		return false
	}
	if slices.ContainsFunc(a.result.Decisions().Decisions, func(d why.Decision) bool { return d.Reason == stages.ReasonDependency }) {
		return true // decided, and perhaps not done: the replacement of the dependency may be refused
	}
	return slices.ContainsFunc(a.result.Steps(), func(s stages.StepInfo) bool {
		// A delete-before-replace deletes it, or an interrupted earlier one has.
		return s.Op == stages.OpDeleteReplaced && !s.Old.Delete || s.Op == stages.OpReplace && s.Old.PendingReplacement
	})
}

// dependsOnComponents reports whether a declaration of the program depends on a component or on the stack.
func (a *attempt) dependsOnComponents() bool {
	components := map[string]bool{}
	for _, d := range a.op.Program {
		if _, ok := components[d.Name]; !ok { // references are to the first resource of a name
			components[d.Name] = d.Kind == Component || d.Kind == Stack
		}
	}
	return slices.ContainsFunc(a.op.Program, func(d Declaration) bool {
		return slices.ContainsFunc(d.DependsOn, func(on string) bool { return components[on] })
	})
}

// mayFailOrNot reports whether even the success of an operation depends on timing.
func (a *attempt) mayFailOrNot() bool {
	return a.sharesObjects() || a.op.Manner == Eager && a.dependsOnArrival()
}

// sharesObjects reports whether two resources, declared or recorded, refer to one object.
func (a *attempt) sharesObjects() bool {
	users := map[string]map[string]bool{}
	add := func(id, name string) {
		if users[id] == nil {
			users[id] = map[string]bool{}
		}
		users[id][name] = true
	}
	for _, d := range a.op.Program {
		if d.ID != "" {
			add(d.ID, d.Name)
		}
	}
	for _, r := range a.before.resources() {
		if r.ID != "" {
			add(r.ID, r.URN.Name())
		}
	}
	for _, names := range users {
		if len(names) > 1 {
			return true
		}
	}
	return false
}

// readLate returns the resources whose updates the preview cannot predict: those whose object the attempt read after it had changed the object under
// another name. Only the objects of imports are read so late and then compared.
func (a *attempt) readLate() map[urn.URN]bool {
	return a.readChanged(a.calls, func(r readCall, c *call) bool { return c.begun < r.end })
}

// contested returns the resources that the attempt, which repeats another one, may have to change again: those whose object it reads and the other
// one has changed or deleted under another name, and the dependents of those.
func (a *attempt) contested(repeats *attempt) map[urn.URN]bool {
	changed := a.readChanged(repeats.calls, func(readCall, *call) bool { return true })
	return withDependents(changed, a.result.Steps())
}

// readChanged returns the resources whose object the attempt read and one of the calls changes under another name, if the pair counts.
func (a *attempt) readChanged(calls []*call, counts func(readCall, *call) bool) map[urn.URN]bool {
	out := map[urn.URN]bool{}
	for _, r := range a.reads {
		if slices.ContainsFunc(calls, func(c *call) bool { return c.id == r.id && c.urn != r.urn && counts(r, c) }) {
			out[r.urn] = true
		}
	}
	return out
}

// withDependents adds the dependents of resources, as the states of steps have them.
func withDependents(of map[urn.URN]bool, steps []stages.StepInfo) map[urn.URN]bool {
	for before := 0; before < len(of); {
		before = len(of)
		for _, s := range steps {
			if dependsOnAny(s.Old, of) || dependsOnAny(s.New, of) {
				of[s.URN] = true
			}
		}
	}
	return of
}

func dependsOnAny(r *state.Resource, of map[urn.URN]bool) bool {
	if r == nil {
		return false
	}
	for ref := range r.References() {
		if of[ref.URN] {
			return true
		}
	}
	return false
}

// compare returns the differences between attempts that should be equal.
func compare(first, other *attempt) (what, one, two string) {
	errors := func(a *attempt) string { return strings.Join(a.errors(), "\n") }
	for _, c := range []struct {
		what string
		of   func(*attempt) string
	}{
		{"plan", (*attempt).plan}, {"reasons", (*attempt).reasons}, {"errors", errors}, {"state", (*attempt).written}, {"diagnostics", (*attempt).diagnostics},
		{"waves of deletion", (*attempt).waves},
	} {
		if one, two := c.of(first), c.of(other); one != two {
			return c.what, one, two
		}
	}
	return "", "", ""
}
