package tracing

import (
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// order has the ended spans of resources, in the order in which they ended. A later span has links to those that it waited for because of its
// dependencies.
type order struct {
	ends int // the number of ended spans
	// resources are the last spans of existing resources. dependents are the spans of deletes that the delete of a resource waits for.
	resources  map[urn.URN]ended
	dependents map[urn.URN][]ended
}

// ended is an ended span.
type ended struct {
	span trace.SpanID
	nth  int
}

// mostLinks limits the links of a span: to the spans that ended last, which are those that it has waited for. It is the default limit of
// OpenTelemetry.
const mostLinks = 128

func newOrder() order {
	return order{resources: map[urn.URN]ended{}, dependents: map[urn.URN][]ended{}}
}

func (o *order) end(s trace.Span) ended {
	o.ends++
	return ended{s.SpanContext().SpanID(), o.ends}
}

// done records that a resource exists.
func (o *order) done(u urn.URN, s trace.Span) { o.resources[u] = o.end(s) }

// removed records that a resource, or its old copy, is deleted, so that its dependencies may be deleted.
func (o *order) removed(s stages.StepInfo, span trace.Span) {
	delete(o.dependents, s.URN)
	if s.Old == nil {
		return
	}
	over := o.end(span)
	for ref := range s.Old.References() {
		list := o.dependents[ref.URN]
		if n := len(list); n > 0 && list[n-1] == over { // two references to the same resource
			continue
		}
		if len(list) == mostLinks {
			list = slices.Delete(list, 0, 1)
		}
		o.dependents[ref.URN] = append(list, over)
	}
}

// before returns the spans of existing resources in the order in which they ended.
func (o *order) before(resources []urn.URN) []trace.SpanID {
	var list []ended
	for _, u := range resources {
		if one, is := o.resources[u]; is {
			list = append(list, one)
		}
	}
	return lastOf(list)
}

// beforeStep returns the spans that a step without a registration has waited for. A refresh waits for nothing.
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

// references returns the references of a registration.
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
