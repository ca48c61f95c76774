package diagram

import "slices"

const (
	// large is the number of resources from which a diagram is drawn collapsed.
	large = 300
	// smallComponent is the number of resources in a component up to which it is drawn open, if there is room.
	smallComponent = 8
)

// arrangement is a way to draw components.
type arrangement struct {
	// flat draws a component like any other resource, beside its contents.
	flat bool
	// open has the components that are frames around their contents; the others are one box with their contents. A component in one
	// that is not open is not open either.
	open []bool
	// apart has the resources that are not merged with others of their type, unless the merging is coarser.
	apart []bool
}

func (a arrangement) isOpen(i int) bool { return a.open != nil && a.open[i] }

func (a arrangement) isApart(i int) bool { return a.apart != nil && a.apart[i] }

// isCollapsed reports whether each component is one box.
func (a arrangement) isCollapsed() bool { return !a.flat && a.open == nil }

// arranger chooses the arrangement of a diagram: the most detailed one for which there is room.
type arranger struct {
	diagram *Diagram
	options Options
}

func (a *arranger) draw() *Drawing {
	if a.diagram.isCollapsed(a.options) {
		return a.collapsed()
	}
	arrangements := a.arrangements()
	for _, in := range arrangements {
		units := newUnits(a.diagram, in)
		for _, m := range []Merging{"", Twins, OfType} {
			out := merger{units, m, a.options}.draw()
			out.Collapsed = a.options.Expand && in.isCollapsed()
			if a.options.Limit == 0 || len(out.boxes) <= a.options.Limit {
				return out
			}
		}
	}
	return a.merged(arrangements[len(arrangements)-1])
}

// arrangements returns the arrangements of a diagram, the most detailed first. The last one is the smallest.
func (a *arranger) arrangements() []arrangement {
	switch {
	case a.diagram.Waves > 0:
		return []arrangement{{flat: true}}
	case a.options.Expand:
		return []arrangement{{open: slices.Repeat([]bool{true}, len(a.diagram.Nodes))}, {}}
	}
	changed := a.around(a.diagram.where(Node.isChanged))
	return []arrangement{{open: a.upward(union(a.small(), changed))}, {open: changed}, {}}
}

// collapsed draws a large diagram: each component is a box, and so are resources of the same type beside them. Only the changed part is open,
// as much of it as there is room for. Small components are open if the picture remains small.
func (a *arranger) collapsed() *Drawing {
	small := a.small()
	inSmall := make([]bool, len(a.diagram.Nodes))
	for i := range a.diagram.Nodes {
		c := a.diagram.component(i)
		inSmall[i] = c != none && small[c]
	}
	for _, part := range a.changedParts() {
		around, apart := a.around(part.nodes), make([]bool, len(a.diagram.Nodes))
		if part.name != "" {
			mark(apart, part.nodes)
		}
		for _, try := range []struct {
			in    arrangement
			limit int
		}{
			{arrangement{open: a.upward(union(small, around)), apart: union(inSmall, apart)}, a.options.Limit / 2},
			{arrangement{open: around, apart: apart}, a.options.Limit},
		} {
			out := merger{newUnits(a.diagram, try.in), OfType, a.options}.draw()
			if len(out.boxes) <= try.limit {
				out.Open = part.name
				return out
			}
		}
	}
	return a.merged(arrangement{})
}

// merged draws a diagram in which the resources of one type in one component are too many boxes.
func (a *arranger) merged(in arrangement) *Drawing {
	units := newUnits(a.diagram, in)
	var out *Drawing
	for _, m := range []Merging{OfPackage, OfChange} {
		if out = (merger{units, m, a.options}).draw(); len(out.boxes) <= a.options.Limit {
			break
		}
	}
	out.Collapsed = a.options.Expand && in.isCollapsed()
	return out
}

// changedPart is a part of a diagram. The components around it are open, and its resources are drawn one by one if it has a name.
type changedPart struct {
	name  Part
	nodes []int
}

// changedParts returns the parts of a large diagram for which a drawing may have room, the most informative first. The last one is empty.
func (a *arranger) changedParts() []changedPart {
	needs, needed := a.diagram.neighbours()
	var out []changedPart
	add := func(name Part, nodes []int) {
		if 0 < len(nodes) && len(nodes) <= a.options.Limit {
			out = append(out, changedPart{name, nodes})
		}
	}
	both := func(nodes []int) []int {
		all := slices.Concat(reach(nodes, needs, 1), reach(nodes, needed, 1))
		slices.Sort(all)
		return slices.Compact(all)
	}
	changed := a.diagram.where(Node.isChanged)
	failed := a.diagram.where(func(n Node) bool { return n.Trouble.isFailure() })
	add(ChangedAndNeighbours, both(changed))
	add(ChangedOnly, changed)
	add(FailedAndNeighbours, both(failed))
	add(FailedOnly, failed)
	return append(out, changedPart{nodes: changed}, changedPart{nodes: failed}, changedPart{})
}

// around returns the set of the components around nodes.
func (a *arranger) around(nodes []int) []bool {
	out := make([]bool, len(a.diagram.Nodes))
	for _, i := range nodes {
		for c := a.diagram.component(i); c != none; c = a.diagram.component(c) {
			out[c] = true
		}
	}
	return out
}

// small returns the set of components with few resources in them.
func (a *arranger) small() []bool {
	inside := make([]int, len(a.diagram.Nodes))
	for i := range a.diagram.Nodes {
		for c := a.diagram.component(i); c != none; c = a.diagram.component(c) {
			inside[c]++
		}
	}
	out := make([]bool, len(a.diagram.Nodes))
	for i, n := range inside {
		out[i] = 0 < n && n <= smallComponent
	}
	return out
}

// upward returns the part of a set of components that are in no component outside of the set.
func (a *arranger) upward(open []bool) []bool {
	out := slices.Clone(open)
	for i := range out {
		for c := a.diagram.component(i); c != none; c = a.diagram.component(c) {
			out[i] = out[i] && open[c]
		}
	}
	return out
}

func union(a, b []bool) []bool {
	out := slices.Clone(a)
	for i := range out {
		out[i] = out[i] || b[i]
	}
	return out
}
