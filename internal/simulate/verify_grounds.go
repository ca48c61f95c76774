package simulate

import (
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// verifyGrounds finds objects that an update deletes without grounds. There are two: a replacement, and that a program without a failure has
// not declared the resource. What the program declares about the old object of a replacement counts.
func (a verification) verifyGrounds() {
	if a.op.Do != Update || a.program == nil {
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
	if len(a.op.Targets)+len(a.op.Excludes) > 0 {
		return // what is left out is not what the program declares
	}
	for _, c := range a.calls {
		d, declared := a.program.declaration(c.urn)
		if c.method != providers.MethodDelete || !declared || d.Kind == Reading || a.goesWithAnother(c) { // a read has no such options
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

func isForWantOfDeclaration(op stages.Op) bool {
	return op == stages.OpDelete || op == stages.OpDiscard || op == stages.OpRemovePendingReplace
}

// goesWithAnother reports whether a delete is part of the delete-before-replace of another resource: it comes before the program declares the resource.
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
