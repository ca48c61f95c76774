package why

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// lineage says what came before what, as far as that does not depend on timing: whatever refers to a resource was decided
// about after it. All names are new ones.
type lineage struct {
	parents   map[urn.URN]urn.URN
	children  map[urn.URN][]urn.URN // in ascending order
	followers map[urn.URN][]urn.URN // what refers to a resource, or names it as its reason
	readers   map[urn.URN][]urn.URN // what has values from a resource
	// later is what came after the resource that was asked about last: all properties of one are asked about together.
	later map[urn.URN]bool
	of    urn.URN
}

// family returns the lineage of everything that was decided about.
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

// enter puts what one step refers to into the lineage.
func (c *collector) enter(u urn.URN, s stages.Decided) {
	l := c.lineage
	follow := func(list map[urn.URN][]urn.URN, on urn.URN) {
		on = c.newName(on)
		known := list[on]
		if on != "" && on != u && (len(known) == 0 || known[len(known)-1] != u) { // one resource is entered after the other
			list[on] = append(known, u)
		}
	}
	if s.Reason.Kind != stages.ReasonCarriedForward { // that is the other way round
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

// after returns what was decided about after a resource because of it: what follows it, what follows that, and so on. What
// has values from a component follows everything in that which they may come from. So two resources are never the sources of
// each other's values, however many others are in between.
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
	within := map[urn.URN]bool{} // what holds one of them that is a source
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
