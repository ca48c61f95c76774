package diagram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

// Diagram is a set of resources with their dependencies. Nodes are named by their index. It leaves out the root stack and
// default providers.
type Diagram struct {
	Project, Stack string
	Planned        bool // it shows a plan
	InReport       bool // it is part of a report, which has a title and counts
	Waves          int  // the number of waves of a destroy; 0 if they are not shown
	Nodes          []Node
	Edges          []Edge // sorted
}

// none stands for a missing index of a node.
const none = -1

// Node is one resource.
type Node struct {
	URN       urn.URN
	Type      urn.Type
	Name      string
	Parent    int  // the index of its parent, -1 for none
	Component bool // it has no object of its own
	Protected bool
	Old       bool   // a copy that was replaced and awaits its deletion
	Change    Change // what is planned
	Uncertain bool   // the planned change may turn out not to be needed
	Trouble   Trouble
	Wave      int // the wave of a destroy that deletes it; 0 for none
}

func (n Node) isChanged() bool { return n.Change != "" || n.Trouble != "" }

// border returns the colour of the frame of a component.
func (n Node) border() string {
	switch {
	case n.Trouble.isFailure():
		return failedStyle.border
	case n.Trouble != "":
		return skippedStyle.border
	}
	return styles[n.Change].border
}

// Edge says that one node needs another one.
type Edge struct {
	Node, On   int
	Kind       EdgeKind
	Properties []string // of Node, whose values come from On; sorted
}

// EdgeKind is the reason why a node needs another one.
type EdgeKind string

// The kinds of edges. A child needs its parent too; see [Node.Parent].
const (
	Dependency  EdgeKind = "dependency"
	Provider    EdgeKind = "provider"
	DeletedWith EdgeKind = "deletedWith"
)

// Change is the planned change of a resource, "" for none.
type Change string

// The changes.
const (
	Delete  Change = "delete"
	Replace Change = "replace"
	Update  Change = "update"
	Import  Change = "import"
	Create  Change = "create"
)

// byDanger lists the changes, the most dangerous first.
var byDanger = [...]Change{Delete, Replace, Update, Import, Create}

// marks are the prefixes of changed names, as in the text of a preview.
var marks = map[Change]string{Delete: "-", Replace: "+-", Update: "~", Import: "=", Create: "+"}

// worse returns the more dangerous one of two changes.
func worse(a, b Change) Change {
	for _, c := range byDanger {
		if a == c || b == c {
			return c
		}
	}
	return ""
}

// Trouble is the reason why a change was not made or is uncertain, "" for none.
type Trouble string

// The troubles.
const (
	Failed     Trouble = "failed"
	Unfinished Trouble = "with an unknown end"
	NotReached Trouble = "not reached"
	Kept       Trouble = "kept because of the failure"
)

// byTrouble lists the troubles, the worst first.
var byTrouble = [...]Trouble{Failed, Unfinished, NotReached, Kept}

// isFailure reports whether an operation has failed, or may have.
func (t Trouble) isFailure() bool { return t == Failed || t == Unfinished }

// worseTrouble returns the worse one of two troubles.
func worseTrouble(a, b Trouble) Trouble {
	for _, t := range byTrouble {
		if a == t || b == t {
			return t
		}
	}
	return ""
}

// component returns the innermost component that a node is in, -1 if there is none.
func (d *Diagram) component(i int) int {
	for p := d.Nodes[i].Parent; p != none; p = d.Nodes[p].Parent {
		if d.Nodes[p].Component {
			return p
		}
	}
	return none
}

// Named returns the URNs of the resources that a text names; see [urn.Called].
func (d *Diagram) Named(text string) []urn.URN { return urn.Called(d.URNs(), text) }

// URNs returns the URNs of all nodes, in their order.
func (d *Diagram) URNs() []urn.URN {
	out := make([]urn.URN, len(d.Nodes))
	for i, n := range d.Nodes {
		out[i] = n.URN
	}
	return out
}

// Around returns the part of the diagram within some steps of a resource: its transitive needs in one direction, and the
// resources that need it in the other. A component stands for everything in it. The components around the remaining nodes stay.
func (d *Diagram) Around(u urn.URN, depth int) *Diagram {
	var start []int
	for i := range d.Nodes {
		for at := i; at != none; at = d.Nodes[at].Parent {
			if d.Nodes[at].URN == u && (at == i || d.Nodes[at].Component) {
				start = append(start, i)
				break
			}
		}
	}
	return d.near(start, depth)
}

// near returns the part of the diagram within some steps of the start nodes, in one direction. The components around it stay.
func (d *Diagram) near(start []int, depth int) *Diagram {
	needs, needed := d.neighbours()
	keep := make([]bool, len(d.Nodes))
	for _, next := range [][][]int{needs, needed} {
		mark(keep, reach(start, next, depth))
	}
	for i := range d.Nodes {
		if !keep[i] {
			continue
		}
		for c := d.component(i); c != none; c = d.component(c) {
			keep[c] = true
		}
	}
	return d.only(keep)
}

func mark(keep []bool, nodes []int) {
	for _, i := range nodes {
		keep[i] = true
	}
}

// neighbours returns, for each node, the nodes that it needs and those that need it. Children need a parent that has an object.
func (d *Diagram) neighbours() (needs, needed [][]int) {
	needs, needed = make([][]int, len(d.Nodes)), make([][]int, len(d.Nodes))
	add := func(node, on int) {
		needs[node] = append(needs[node], on)
		needed[on] = append(needed[on], node)
	}
	for _, e := range d.Edges {
		add(e.Node, e.On)
	}
	for i, n := range d.Nodes {
		if n.Parent != none && !d.Nodes[n.Parent].Component {
			add(i, n.Parent)
		}
	}
	return needs, needed
}

// reach returns the nodes that are at most depth steps from the first ones, which are included.
func reach(first []int, next [][]int, depth int) []int {
	seen := make([]bool, len(next))
	mark(seen, first)
	out := slices.Clone(first)
	for level := first; depth > 0 && len(level) > 0; depth-- {
		var farther []int
		for _, i := range level {
			for _, j := range next[i] {
				if !seen[j] {
					seen[j] = true
					farther = append(farther, j)
				}
			}
		}
		out, level = append(out, farther...), farther
	}
	return out
}

// only returns the diagram of the nodes to keep. A node whose parent is left out gets its nearest kept ancestor.
func (d *Diagram) only(keep []bool) *Diagram {
	out := *d
	out.Nodes, out.Edges = nil, nil
	at := make([]int, len(d.Nodes))
	for i, n := range d.Nodes {
		at[i] = none
		if keep[i] {
			at[i] = len(out.Nodes)
			out.Nodes = append(out.Nodes, n)
		}
	}
	for i := range out.Nodes {
		p := out.Nodes[i].Parent
		for p != none && !keep[p] {
			p = d.Nodes[p].Parent
		}
		if p != none {
			p = at[p]
		}
		out.Nodes[i].Parent = p
	}
	for _, e := range d.Edges {
		if keep[e.Node] && keep[e.On] {
			e.Node, e.On = at[e.Node], at[e.On]
			out.Edges = append(out.Edges, e)
		}
	}
	return &out
}

// Changed returns the part of the diagram that changes or is in trouble, with its neighbours.
func (d *Diagram) Changed() *Diagram { return d.near(d.where(Node.isChanged), 1) }

// where returns the nodes for which a condition holds.
func (d *Diagram) where(holds func(Node) bool) []int {
	var out []int
	for i, n := range d.Nodes {
		if holds(n) {
			out = append(out, i)
		}
	}
	return out
}

// IsLarge reports whether a diagram is drawn collapsed unless the options say otherwise.
func (d *Diagram) IsLarge() bool { return len(d.Nodes) >= large }

// isCollapsed reports whether only the changed part of the drawing is open.
func (d *Diagram) isCollapsed(o Options) bool {
	return d.IsLarge() && o.Limit > 0 && !o.Expand && d.Waves == 0
}

// Draw returns the drawing of a diagram.
func (d *Diagram) Draw(o Options) *Drawing { return (&arranger{d, o}).draw() }

// title returns the title of a picture, "" in a report.
func (d *Diagram) title() string {
	if d.InReport {
		return ""
	}
	text := shown(d.Project) + "/" + shown(d.Stack) + ": " + format.PluralThousands(len(d.Nodes), "resource", "resources")
	if d.Waves > 0 {
		text += ", deleted in " + format.PluralThousands(d.Waves, "wave", "waves")
	}
	return text
}

// legend explains the marks and colours of a diagram.
func (d *Diagram) legend() string {
	var t tally
	for _, n := range d.Nodes {
		t.count(n)
	}
	if d.InReport {
		return strings.Join(t.marks(), "    ")
	}
	parts := t.parts(func(c Change, n int) string { return fmt.Sprintf("%s %s: %s", marks[c], c, format.Thousands(n)) })
	if d.Planned && parts == nil {
		return "the plan changes nothing"
	}
	return strings.Join(parts, "    ")
}

// JSON returns the whole diagram as JSON. Nothing is collapsed, and names are exact.
func (d *Diagram) JSON() ([]byte, error) { return jsonOf(d) }
