package simulate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/stages/why"
)

const notDecided = "not all were decided about"

// Reasons finds steps without a reason, and chains of reasons that do not end in root causes. Every decision except a
// root names one that led to it, and there are no cycles.
func Reasons(r *sluice.Result) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, s := range r.Steps() {
		if s.Reason.Clause() == "" {
			fault("there is no reason to %s %s", s.Op, s.URN)
		}
	}
	log := r.Decisions()
	for i, d := range log.Decisions {
		if i > 0 && log.Decisions[i-1].URN == d.URN {
			continue // they are explained together
		}
		e := log.Why(d.URN)
		if e == nil {
			fault("there is no explanation for %s", d.URN)
			continue
		}
		for at, l := range e.Links {
			switch {
			case l.Because == "":
				fault("there is no reason to %s %s", l.Op, l.URN)
			case len(l.Next) != len(l.Causes):
				fault("of the causes %v of %s %s "+notDecided, l.Causes, l.Op, l.URN)
			case len(l.Next) == 0 && len(l.Roots) == 0:
				fault("the reasons for %s end at %s %s without a root cause", d.URN, l.Op, l.URN)
			case leadsBack(e, at):
				fault("the reasons for %s go round in a circle at %s", d.URN, l.URN)
			}
		}
	}
	return faults
}

// leadsBack reports whether a link is among its own indirect causes.
func leadsBack(e *why.Explanation, from int) bool {
	seen := map[int]bool{}
	for todo := slices.Clone(e.Links[from].Next); len(todo) > 0; {
		at := todo[0]
		todo = todo[1:]
		if at == from {
			return true
		}
		if !seen[at] {
			seen[at] = true
			todo = append(todo, e.Links[at].Next...)
		}
	}
	return false
}

// verifyReasons checks the reasons of every step and every decision.
func (a verification) verifyReasons() {
	if a.result == nil {
		return
	}
	for _, f := range Reasons(a.result) {
		if a.err != nil && strings.Contains(f, notDecided) {
			continue // the run has stopped before
		}
		a.fault("%s", f)
	}
}

// reasons returns all decisions with their causes.
func (a *attempt) reasons() string {
	if a.result == nil {
		return ""
	}
	var b strings.Builder
	for _, d := range a.result.Decisions().Decisions {
		text, err := json.Marshal(d)
		fmt.Fprintf(&b, "%s %v\n", text, err)
	}
	return b.String()
}
