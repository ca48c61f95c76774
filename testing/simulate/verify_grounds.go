package simulate

import (
	"slices"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// verifyGrounds finds objects that are deleted without grounds. An update has two: a replacement, and a program that ended without a failure and has
// not declared the resource. The program's declaration counts for the old object of a replacement.
func (a verification) verifyGrounds() {
	switch {
	case a.op.Do == Destroy:
		a.verifyDestroyed()
		return
	case a.op.Do != Update:
		a.verifyUntouched()
		return
	case a.program == nil:
		return
	}
	for _, e := range a.events {
		s, ok := e.(stages.StepStarted)
		if !ok || s.Step.Old == nil || s.Step.Old.Delete || s.Step.Old.ViewOf != "" || !isForWantOfDeclaration(s.Step.Op) {
			continue
		}
		if a.program.undone.Load() {
			a.fault("%s of %s for want of a declaration, after the program has met a failure", s.Step.Op, s.Step.URN)
		}
		if _, declared := a.program.declaration(s.Step.URN); declared {
			a.fault("%s of %s, which the program has declared", s.Step.Op, s.Step.URN)
		}
	}
	partial := len(a.op.Targets)+len(a.op.Excludes) > 0
	for _, c := range a.calls {
		d, declared := a.program.declaration(c.urn)
		switch {
		case c.method != providers.MethodDelete, !declared, a.goesWithAnother(c):
			continue
		case d.Kind == Reading: // a read has no such options
			continue
		case a.buries(c) && (partial || !a.wasDeclared(c)): // the recorded options count (decision 0191)
			continue
		}
		if d.Retain {
			a.fault("the object %s of %s is deleted, which the program retains now", c.id, c.urn)
		}
		if d.Protect && !a.op.IgnoreProtect && !a.buries(c) {
			a.fault("the object %s of %s is deleted, which the program protects now", c.id, c.urn)
		}
	}
}

// verifyDestroyed finds objects that a destroy deletes although they are not recorded, or are protected, retained or left out.
func (a verification) verifyDestroyed() {
	for _, c := range a.calls {
		if c.method != providers.MethodDelete {
			continue
		}
		at := slices.IndexFunc(a.before.resources(), func(r *state.Resource) bool { return r.ID == c.id && isManaged(r) })
		if at < 0 {
			a.fault("a destroy deletes %s of %s, which is not recorded", c.id, c.urn)
			continue
		}
		r := a.before.resources()[at]
		if a.program != nil {
			if d, declared := a.program.declaration(c.urn); declared && !r.Delete { // the destroy records it first, unless it refers to something new (steps.md 7.5)
				r = r.Clone()
				r.Protect, r.RetainOnDelete = r.Protect && d.Protect, r.RetainOnDelete && d.Retain
			}
		}
		switch {
		case a.isManagedTwice(c.id): // under two names, either of which may count
		case r.Protect && !r.Delete && !a.op.IgnoreProtect:
			a.fault("a destroy deletes %s of %s, which is protected", c.id, c.urn)
		case r.RetainOnDelete:
			a.fault("a destroy deletes %s of %s, which is retained", c.id, c.urn)
		case len(a.op.Targets) > 0 && !a.op.Dependents && !slices.Contains(a.op.Targets, r.URN.Name()) && !slices.Contains(a.op.Targets, c.urn.Name()):
			a.fault("a destroy deletes %s of %s, which is no target", c.id, c.urn)
		case slices.Contains(a.op.Excludes, r.URN.Name()):
			a.fault("a destroy deletes %s of %s, which is excluded", c.id, c.urn)
		}
	}
}

// isManagedTwice reports whether several states stand for an object.
func (a verification) isManagedTwice(id string) bool {
	n := 0
	for _, r := range a.before.resources() {
		if r.ID == id {
			n++
		}
	}
	return n > 1
}

// verifyUntouched finds objects changed by an operation that only reads: a refresh, an import or a recovery. A refresh that runs its program creates
// the program's providers, and resources that cannot stay without a replaced provider are deleted (decision 0012).
func (a verification) verifyUntouched() {
	for _, c := range a.calls {
		if a.op.RunProgram && c.method == providers.MethodDelete && (a.goesWithAnother(c) || a.buries(c)) {
			continue
		}
		a.fault("a %s makes a %s of %s", a.op.Do, c.method, c.urn)
	}
}

func isForWantOfDeclaration(op stages.Op) bool {
	return op == stages.OpDelete || op == stages.OpDiscard || op == stages.OpRemovePendingReplace
}

// wasDeclared reports whether the program had declared the resource of an object before the object was deleted.
func (a verification) wasDeclared(c *call) bool {
	m := a.program.moment(c.urn)
	return m.answered > 0 && m.answered < c.begun
}

// goesWithAnother reports whether a delete is part of the delete-before-replace of another resource: it then comes before the program declares the
// resource.
func (a verification) goesWithAnother(c *call) bool {
	for _, e := range a.events {
		s, ok := e.(stages.StepStarted)
		if !ok || s.Step.URN != c.urn || s.Step.Old == nil || s.Step.Old.ID != c.id {
			continue
		}
		switch s.Step.Reason.Kind {
		case stages.ReasonDependency, stages.ReasonDeletedWith, stages.ReasonReplaceWith:
			if stages.Removes(s.Step.Op) {
				return true
			}
		}
	}
	return false
}
