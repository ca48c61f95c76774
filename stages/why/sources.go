package why

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// hasChanged reports whether the outputs of a resource changed in this operation, so that values from them may have changed, too.
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

// sources returns the changed resources among the given ones from which values of a resource may come, in ascending order. A
// component stands for the resources in it, because its outputs come from theirs. A resource in it that was decided about later,
// because it depends on the resource, is no source.
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

// isQuietComponent reports whether a resource is a component that does not change itself.
func (c *collector) isQuietComponent(u urn.URN) bool {
	steps := c.steps[u]
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s stages.Decided) bool {
		return s.New == nil || s.New.Custom || s.Op != stages.OpSame
	})
}

// changedInside lists the changed resources in a component, at any depth, without those that follow the given resource.
func (c *collector) changedInside(component, before urn.URN) []urn.URN {
	out := slices.DeleteFunc(c.inside(component), func(u urn.URN) bool { return !c.isSource(u) })
	if len(out) == 0 {
		return nil
	}
	later := c.after(before)
	return slices.DeleteFunc(out, func(u urn.URN) bool { return later[u] })
}

// inside lists the resources in a component, at any depth.
func (c *collector) inside(component urn.URN) []urn.URN {
	l := c.family()
	todo := slices.Clone(l.children[component])
	for at := 0; at < len(todo) && todo[at] != component; at++ {
		todo = append(todo, l.children[todo[at]]...)
	}
	return todo
}

// isSource reports whether a resource changed and does not merely stand for the resources in it.
func (c *collector) isSource(u urn.URN) bool { return !c.isQuietComponent(u) && c.hasChanged(u) }
