package simulate

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// excuse is why the outcome of an operation may depend on timing, "" if it may not: decision 0002, its last section.
type excuse string

const (
	// mustBeEqual operations have no excuse.
	mustBeEqual excuse = ""
	// interrupted operations were stopped by somebody.
	interrupted excuse = "interrupted"
	// stopped operations were stopped by a failure while other things were under way.
	stopped excuse = "stopped by the first failure"
	// arrival operations have a program whose registrations arrive in any order, and in which that decides something: which
	// delete-before-replace takes a dependent, or whose name counts.
	arrival excuse = "order of arrival"
	// shared operations manage or read one object under two names at once: what one sees of the other's change is a matter
	// of time, and no preview can foresee it. That is the cloud's doing, and no promise of the engine's.
	shared excuse = "two resources share an object"
)

// excuseOf looks at all attempts: they are of the same operation.
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

// wasStopped reports whether something may have been under way when a failure stopped the run. A serial program has nothing
// else under way, except for the deletes of a delete-before-replace; deletes after the program have.
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
	// With continue-on-error only what is not a step stops the run: what a check, a policy or a decision refuses, and what
	// cannot be read before that.
	failed := 0
	for _, e := range a.events {
		if f, ok := e.(stages.StepFailed); ok && f.Step.Op != stages.OpRefresh {
			failed++
		}
	}
	for _, text := range a.errors() {
		if strings.Contains(text, "an earlier operation was interrupted while creating") {
			failed++ // the resource fails, without a step
		}
	}
	return failed < len(a.errors())
}

// failedInClosure reports whether a delete of a delete-before-replace has failed.
func (a *attempt) failedInClosure() bool {
	return slices.ContainsFunc(a.events, func(e stages.Event) bool {
		f, ok := e.(stages.StepFailed)
		return ok && f.Step.Op == stages.OpDeleteReplaced
	})
}

// dependsOnArrival reports whether a program that registers in any order met something that the order decides.
func (a *attempt) dependsOnArrival() bool {
	if slices.ContainsFunc(a.errors(), func(e string) bool {
		return strings.Contains(e, "Duplicate resource") || strings.Contains(e, "has not been registered yet")
	}) {
		return true
	}
	if a.result == nil {
		return false
	}
	return slices.ContainsFunc(a.result.Steps, func(s stages.StepInfo) bool {
		return s.Op == stages.OpDeleteReplaced && !s.Old.Delete // taken by a delete-before-replace
	})
}

// mayFailOrNot reports whether even the success of an operation is a matter of time.
func (a *attempt) mayFailOrNot() bool {
	return a.sharesObjects() || a.op.Manner == Eager && a.dependsOnArrival()
}

// sharesObjects reports whether two resources, declared or recorded, name one object.
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

// compare finds what differs between attempts that should be equal.
func compare(first, other *attempt) (what, one, two string) {
	errors := func(a *attempt) string { return strings.Join(a.errors(), "\n") }
	for _, c := range []struct {
		what string
		of   func(*attempt) string
	}{
		{"plan", (*attempt).plan}, {"reasons", (*attempt).reasons}, {"errors", errors}, {"state", (*attempt).written}, {"diagnostics", (*attempt).diagnostics},
	} {
		if one, two := c.of(first), c.of(other); one != two {
			return c.what, one, two
		}
	}
	return "", "", ""
}
