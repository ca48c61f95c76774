package why

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// lineage has the order of decisions, as far as it does not depend on timing: whatever refers to a resource was decided about after
// it. All names are new ones.
type lineage struct {
	parents   map[urn.URN]urn.URN
	children  map[urn.URN][]urn.URN // in ascending order
	followers map[urn.URN][]urn.URN // resources that refer to one, or name it as their reason
	readers   map[urn.URN][]urn.URN // resources that have values from one
	// later has the resources that follow the one of the last query: all properties of one are handled together.
	later map[urn.URN]bool
	of    urn.URN
}

// family returns the lineage of all resources with a decision.
func (c *collector) family() *lineage {
	if c.lineage != nil {
		return c.lineage
	}
	c.lineage = &lineage{
		parents: map[urn.URN]urn.URN{}, children: map[urn.URN][]urn.URN{},
		followers: map[urn.URN][]urn.URN{}, readers: map[urn.URN][]urn.URN{},
	}
	for _, u := range c.order {
		for _, s := range c.steps[u] {
			c.enter(u, s)
		}
		if p, ok := c.lineage.parents[u]; ok {
			c.lineage.children[p] = append(c.lineage.children[p], u)
		}
	}
	return c.lineage
}

// enter puts the references of one step into the lineage.
func (c *collector) enter(u urn.URN, s stages.Decided) {
	l := c.lineage
	follow := func(list map[urn.URN][]urn.URN, on urn.URN) {
		on = c.newName(on)
		known := list[on]
		if on != "" && on != u && (len(known) == 0 || known[len(known)-1] != u) { // one resource is entered after the other
			list[on] = append(known, u)
		}
	}
	if s.Reason.Kind != stages.ReasonCarriedForward { // in that reason the direction is reversed
		follow(l.followers, s.Reason.Cause)
	}
	follow(l.followers, s.FailedDependency)
	if s.Wanted == nil {
		return
	}
	if s.Wanted.Parent != "" {
		l.parents[u] = c.newName(s.Wanted.Parent)
	}
	for ref := range s.Wanted.References() {
		follow(l.followers, ref.URN)
		if ref.Kind == graph.PropertyDependency {
			follow(l.readers, ref.URN)
		}
	}
}

// after returns the resources that were decided about after a resource because of it: its followers, their followers, and so on. A
// resource that has values from a component follows everything in the component that they may come from. So two resources are never
// the sources of each other's values, however many others are in between.
func (c *collector) after(u urn.URN) map[urn.URN]bool {
	l := c.family()
	if l.of == u && l.later != nil {
		return l.later
	}
	l.later, l.of = map[urn.URN]bool{u: true}, u
	todo := []urn.URN{u}
	visit := func(us []urn.URN) {
		for _, v := range us {
			if !l.later[v] {
				l.later[v] = true
				todo = append(todo, v)
			}
		}
	}
	within := map[urn.URN]bool{} // components that contain a source among them
	for at := 0; at < len(todo); at++ {
		visit(l.followers[todo[at]])
		if !c.isSource(todo[at]) {
			continue
		}
		for p, ok := l.parents[todo[at]]; ok && !within[p]; p, ok = l.parents[p] {
			within[p] = true
			if c.isQuietComponent(p) {
				visit(l.readers[p])
			}
		}
	}
	return l.later
}
