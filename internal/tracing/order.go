package tracing

import (
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// order knows which spans of resources are over, in the order in which they ended. What began after one of them because it depends on
// it has a link to it.
type order struct {
	ends int // how many have ended
	// resources are the last spans of resources that are there. dependents are those of the deletes that a resource waits for.
	resources  map[urn.URN]ended
	dependents map[urn.URN][]ended
}

// ended is a span that is over.
type ended struct {
	span trace.SpanID
	nth  int
}

// mostLinks is how many links a span gets: those to what ended last, which are what it has waited for. OpenTelemetry keeps as many unless it is told
// otherwise.
const mostLinks = 128

func newOrder() order {
	return order{resources: map[urn.URN]ended{}, dependents: map[urn.URN][]ended{}}
}

func (o *order) end(s trace.Span) ended {
	o.ends++
	return ended{s.SpanContext().SpanID(), o.ends}
}

// done says that a resource is there.
func (o *order) done(u urn.URN, s trace.Span) { o.resources[u] = o.end(s) }

// removed says that a resource, or its old copy, is gone. What it depended on may go now.
func (o *order) removed(s stages.StepInfo, span trace.Span) {
	delete(o.dependents, s.URN)
	if s.Old == nil {
		return
	}
	over := o.end(span)
	for ref := range s.Old.References() {
		list := o.dependents[ref.URN]
		if n := len(list); n > 0 && list[n-1] == over { // it refers to it twice
			continue
		}
		if len(list) == mostLinks {
			list = slices.Delete(list, 0, 1)
		}
		o.dependents[ref.URN] = append(list, over)
	}
}

// before returns the spans of resources that are there, the one that ended last as the last.
func (o *order) before(resources []urn.URN) []trace.SpanID {
	var list []ended
	for _, u := range resources {
		if one, is := o.resources[u]; is {
			list = append(list, one)
		}
	}
	return lastOf(list)
}

// beforeStep returns the spans that a step has waited for that belongs to no registration. A refresh waits for nothing.
func (o *order) beforeStep(s stages.StepInfo) []trace.SpanID {
	switch {
	case stages.Removes(s.Op):
		return lastOf(o.dependents[s.URN])
	case s.Op == stages.OpRefresh || s.New == nil:
		return nil
	}
	var list []urn.URN
	for ref := range s.New.References() {
		list = append(list, ref.URN)
	}
	return o.before(list)
}

func lastOf(list []ended) []trace.SpanID {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b ended) int { return a.nth - b.nth })
	list = slices.Compact(list)
	list = list[max(0, len(list)-mostLinks):]
	out := make([]trace.SpanID, 0, len(list))
	for _, one := range list {
		out = append(out, one.span)
	}
	return out
}

// references returns what a registration refers to.
func references(i stages.Registered) []urn.URN {
	var s state.Resource
	switch {
	case i.Goal != nil:
		s = state.Resource{
			Parent: i.Goal.Parent, Dependencies: i.Goal.Dependencies, PropertyDependencies: i.Goal.PropertyDependencies,
			Provider: i.Goal.Provider, DeletedWith: i.Goal.DeletedWith, ReplaceWith: i.Goal.ReplaceWith,
		}
	case i.Read != nil:
		s = state.Resource{Parent: i.Read.Parent, Dependencies: i.Read.Dependencies, Provider: i.Read.Provider}
	}
	var list []urn.URN
	for ref := range s.References() {
		list = append(list, ref.URN)
	}
	return list
}
