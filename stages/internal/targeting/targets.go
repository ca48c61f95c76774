package targeting

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Targets refuses names of unknown resources.
type Targets struct {
	Control *control.Control
	Rooms   *rooms.Rooms
}

// UnknownTargets reports the literal members of a set that no resource has (steps.md 6.6). The run goes on until the caller stops
// it.
func (t *Targets) UnknownTargets(set *urn.PatternSet) error {
	unknown := false
	for u := range set.Literals() {
		if len(t.Rooms.Base.All[u]) > 0 || t.Rooms.Names.IsSeen(u) {
			continue
		}
		unknown = true
		var as []advice.Advice
		code, text := stages.CodeTargetNotFound, fmt.Sprintf("Target '%v' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			code, text = stages.CodeTargetNotFoundEscape, text+" Did you forget to escape $ in your shell?"
		}
		if like := state.Near(t.Rooms.Base.Resources, string(u)); len(like) > 0 {
			text += "\nDid you mean"
			for _, u := range like {
				text += "\n  " + u.ShellQuoted()
			}
		} else {
			as = append(as, advice.On(advice.ListResources))
		}
		t.Control.Diagnose("", stages.Error, code, text, as...)
	}
	if t.unknownNames(set) {
		unknown = true
	}
	if !unknown {
		return nil
	}
	t.Control.Fail(0, "", stages.CodeShown, errUnknownTargets)
	return &stages.ReportedError{Err: errUnknownTargets}
}

// UnknownExcludes is [Targets.UnknownTargets] for the names of excludes. A URN may be that of a resource that is not declared yet;
// a name that no resource has is misspelt.
func (t *Targets) UnknownExcludes() error {
	if !t.unknownNames(t.Rooms.Targeting.Excludes) {
		return nil
	}
	t.Control.Fail(0, "", stages.CodeShown, errUnknownTargets)
	return &stages.ReportedError{Err: errUnknownTargets}
}

// unknownNames reports the names of a set that no registered resource has, or several have. Names of recorded resources are
// literals by now.
func (t *Targets) unknownNames(set *urn.PatternSet) (unknown bool) {
	for name := range set.Names() {
		var err error
		switch called := t.Rooms.Names.SeenCalled(name); len(called) {
		case 0:
			err = state.NewUnknownResourceError(t.Rooms.Base.Resources, name)
		case 1:
			continue
		default:
			err = &state.AmbiguousNameError{Name: name, URNs: called}
		}
		unknown = true
		t.Control.Diagnose("", stages.Error, stages.CodeTargetNotFound, err.Error(), advice.Of(err)...)
	}
	return unknown
}

var errUnknownTargets = errors.New("one or more targets could not be found in the stack")

// CheckReplaceTargets refuses targets of a replacement that do not exist, and warns of those that are left out. It is called before the program
// starts.
func (t *Targets) CheckReplaceTargets() error {
	sel := t.Rooms.Targeting
	if err := t.refuseUnknown(sel.Replace); err != nil {
		return err
	}
	for u := range sel.Replace.Literals() {
		switch {
		case sel.Excludes.Matches(u):
			t.Control.Warn(u, "it is to be replaced, but stays as it is, because it is excluded")
		case !sel.Targets.Contains(u) && !sel.TargetDependents:
			t.Control.Warn(u, "it is to be replaced, but stays as it is, because it is not a target: make it one, too")
		}
	}
	return nil
}

// CheckTargets refuses targets and excludes that the recorded state does not have, for operations that run no program.
func (t *Targets) CheckTargets() error {
	return t.refuseUnknown(t.Rooms.Targeting.Targets, t.Rooms.Targeting.Excludes)
}

// refuseUnknown stops the run if a set has literal members that no resource has.
func (t *Targets) refuseUnknown(sets ...*urn.PatternSet) error {
	for _, set := range sets {
		if err := t.UnknownTargets(set); err != nil {
			t.Control.Halt()
			return err
		}
	}
	return nil
}

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
