package why

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// hasChanged reports whether the outputs of a resource changed in this operation, so that what is made of them may have too.
func (c *collector) hasChanged(u urn.URN) bool {
	if known, ok := c.changed[u]; ok {
		return known
	}
	changed := slices.ContainsFunc(c.steps[u], changesOutputs)
	c.changed[u] = changed
	return changed
}

func changesOutputs(s stages.Decided) bool {
	switch {
	case s.New == nil:
		return false
	case s.Old == nil:
		return true
	case s.Op == stages.OpSame && s.Old.Custom:
		return false
	}
	return s.Old.ID != s.New.ID || !property.EqualMaps(s.Old.Outputs, s.New.Outputs)
}

// sources are those of the given resources that changed and that values of a resource may come from, in ascending order. A
// component stands for what is in it: its own outputs are made of theirs. What is in it and was decided about later, because
// it depends on the resource, is no source.
func (c *collector) sources(of urn.URN, deps []urn.URN) []urn.URN {
	var out []urn.URN
	for _, u := range deps {
		u = c.newName(u)
		if c.isQuietComponent(u) {
			out = append(out, c.changedInside(u, of)...)
		} else if c.hasChanged(u) {
			out = append(out, u)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isQuietComponent reports whether nothing is done about a component itself.
func (c *collector) isQuietComponent(u urn.URN) bool {
	steps := c.steps[u]
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s stages.Decided) bool {
		return s.New == nil || s.New.Custom || s.Op != stages.OpSame
	})
}

// changedInside lists what changed in a component, where resources form a tree, without what came after the given resource.
func (c *collector) changedInside(component, before urn.URN) []urn.URN {
	out := slices.DeleteFunc(c.inside(component), func(u urn.URN) bool { return !c.isSource(u) })
	if len(out) == 0 {
		return nil
	}
	later := c.after(before)
	return slices.DeleteFunc(out, func(u urn.URN) bool { return later[u] })
}

// inside lists what is in a component, at any depth.
func (c *collector) inside(component urn.URN) []urn.URN {
	l := c.family()
	todo := slices.Clone(l.children[component])
	for at := 0; at < len(todo) && todo[at] != component; at++ {
		todo = append(todo, l.children[todo[at]]...)
	}
	return todo
}

// isSource reports whether a resource changed and does not merely stand for what is in it.
func (c *collector) isSource(u urn.URN) bool { return !c.isQuietComponent(u) && c.hasChanged(u) }
