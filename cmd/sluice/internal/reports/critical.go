package reports

import (
	"slices"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// span is a step on the timeline.
type span struct {
	at *Resource
	Step
}

// criticalPath returns the chain of steps that ended last. Before each step comes the one that it waited for: the last one to end of the
// steps that had to precede it. These are steps of the same resource, of its dependencies and parent or, for a delete, of its dependents.
func criticalPath(all []Resource) []PathStep {
	byURN := make(map[urn.URN]*Resource, len(all))
	for i := range all {
		byURN[all[i].URN] = &all[i]
	}
	dependents := map[urn.URN][]*Resource{}
	var last span
	for i := range all {
		r := &all[i]
		for _, u := range needs(r) {
			dependents[u] = append(dependents[u], r)
		}
		for _, s := range r.Steps {
			if s.Ended.After(last.Ended) {
				last = span{r, s}
			}
		}
	}
	var out []PathStep
	for at := last; at.at != nil; {
		before := predecessor(at, byURN, dependents)
		step := PathStep{URN: at.at.URN, Operation: at.Operation, Seconds: seconds(at.Ended.Sub(at.Began))}
		if before.at != nil {
			step.Waited = seconds(at.Began.Sub(before.Ended))
		}
		out = append(out, step)
		at = before
	}
	slices.Reverse(out)
	return out
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// needs returns the resources that must be created before: the dependencies and the parent.
func needs(r *Resource) []urn.URN {
	if r.Parent == "" {
		return r.DependsOn
	}
	return append(slices.Clone(r.DependsOn), r.Parent)
}

func predecessor(at span, byURN map[urn.URN]*Resource, dependents map[urn.URN][]*Resource) span {
	around := []*Resource{at.at}
	removes := stages.Removes(at.Operation)
	if removes {
		around = append(around, dependents[at.at.URN]...)
	} else {
		for _, u := range needs(at.at) {
			if r := byURN[u]; r != nil {
				around = append(around, r)
			}
		}
	}
	var best span
	for _, r := range around {
		for _, s := range r.Steps {
			isBefore := !s.Ended.IsZero() && !s.Ended.After(at.Began) && s.Began.Before(at.Began)
			if isBefore && s.Ended.After(best.Ended) && (r == at.at || stages.Removes(s.Operation) == removes) {
				best = span{r, s}
			}
		}
	}
	return best
}
