package targeting

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Targets refuses names of unknown resources.
type Targets struct {
	*control.Control
	*book.Book
}

// UnknownTargets reports the literal members of a set that name nothing (steps.md 6.6). The run goes on until its caller
// stops it.
func (r *Targets) UnknownTargets(set *urn.PatternSet) error {
	unknown := false
	for u := range set.Literals() {
		if len(r.Base.All[u]) > 0 || r.Names.IsSeen(u) {
			continue
		}
		unknown = true
		var as []advice.Advice
		code, text := stages.CodeTargetNotFound, fmt.Sprintf("Target '%v' could not be found in the stack.", u)
		if !strings.Contains(string(u), "$") {
			code, text = stages.CodeTargetNotFoundEscape, text+" Did you forget to escape $ in your shell?"
		}
		if like := state.Near(r.Base.Resources, string(u)); len(like) > 0 {
			text += "\nDid you mean"
			for _, u := range like {
				text += "\n  " + u.ShellQuoted()
			}
		} else {
			as = append(as, advice.On(advice.ListResources))
		}
		r.Diagnose("", stages.Error, code, text, as...)
	}
	if r.unknownNames(set) {
		unknown = true
	}
	if !unknown {
		return nil
	}
	r.Fail(0, "", stages.CodeShown, errUnknownTargets)
	return &stages.ReportedError{Err: errUnknownTargets}
}

// UnknownExcludes is [Targets.UnknownTargets] for names of what is left out. A URN may be that of a resource that is not declared yet; a
// name that nothing has is misspelt.
func (r *Targets) UnknownExcludes() error {
	if !r.unknownNames(r.Targeting.Excludes) {
		return nil
	}
	r.Fail(0, "", stages.CodeShown, errUnknownTargets)
	return &stages.ReportedError{Err: errUnknownTargets}
}

// unknownNames reports the names of a set that nothing has, or that several registered resources have. What a recorded resource was
// called is a literal by now.
func (r *Targets) unknownNames(set *urn.PatternSet) (unknown bool) {
	for name := range set.Names() {
		var err error
		switch called := r.Names.SeenCalled(name); len(called) {
		case 0:
			err = &state.UnknownResourceError{Text: name, Near: state.Near(r.Base.Resources, name)}
		case 1:
			continue
		default:
			err = &state.AmbiguousNameError{Name: name, URNs: called}
		}
		unknown = true
		r.Diagnose("", stages.Error, stages.CodeTargetNotFound, err.Error(), advice.Of(err)...)
	}
	return unknown
}

var errUnknownTargets = errors.New("one or more targets could not be found in the stack")

// CheckReplaceTargets refuses targets of a replacement that do not exist. It is called before the program starts.
func (r *Targets) CheckReplaceTargets() error { return r.refuseUnknown(r.Targeting.Replace) }

// CheckTargets refuses targets and excludes that the recorded state does not have, for operations that run no program.
func (r *Targets) CheckTargets() error {
	return r.refuseUnknown(r.Targeting.Targets, r.Targeting.Excludes)
}

// refuseUnknown stops the run if a set has literal members that name nothing.
func (r *Targets) refuseUnknown(sets ...*urn.PatternSet) error {
	for _, set := range sets {
		if err := r.UnknownTargets(set); err != nil {
			r.Halt()
			return err
		}
	}
	return nil
}
