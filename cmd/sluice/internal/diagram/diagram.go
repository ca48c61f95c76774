package diagram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

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
func (d *Diagram) Draw(o Options) *Drawing {
	if d.isCollapsed(o) {
		return d.drawCollapsed(o)
	}
	arrangements := d.arrangements(o)
	var out *Drawing
	for _, a := range arrangements {
		p := newPainter(d, a)
		for _, m := range []Merging{"", Twins, OfType} {
			out = p.draw(m, o)
			out.Collapsed = o.Expand && a.isCollapsed()
			if o.Limit == 0 || len(out.boxes) <= o.Limit {
				return out
			}
		}
	}
	return d.drawMerged(arrangements[len(arrangements)-1], o)
}

// arrangements returns the arrangements of a diagram, the most detailed first. The last one is the smallest.
func (d *Diagram) arrangements(o Options) []arrangement {
	switch {
	case d.Waves > 0:
		return []arrangement{{flat: true}}
	case o.Expand:
		return []arrangement{{open: d.all()}, {}}
	}
	changed := d.around(d.where(Node.isChanged))
	return []arrangement{{open: d.upward(union(d.small(), changed))}, {open: changed}, {}}
}

// drawCollapsed draws a large diagram: each component is a box, and so are resources of the same type beside them. Only the changed part is open,
// as much of it as there is room for. Small components are open if the picture remains small.
func (d *Diagram) drawCollapsed(o Options) *Drawing {
	small := d.small()
	inSmall := make([]bool, len(d.Nodes))
	for i := range d.Nodes {
		c := d.component(i)
		inSmall[i] = c != none && small[c]
	}
	for _, part := range d.changedParts(o.Limit) {
		around, apart := d.around(part.nodes), make([]bool, len(d.Nodes))
		if part.name != "" {
			mark(apart, part.nodes)
		}
		for _, try := range []struct {
			a     arrangement
			limit int
		}{
			{arrangement{open: d.upward(union(small, around)), apart: union(inSmall, apart)}, o.Limit / 2},
			{arrangement{open: around, apart: apart}, o.Limit},
		} {
			out := newPainter(d, try.a).draw(OfType, o)
			if len(out.boxes) <= try.limit {
				out.Open = part.name
				return out
			}
		}
	}
	return d.drawMerged(arrangement{}, o)
}

func union(a, b []bool) []bool {
	out := slices.Clone(a)
	for i := range out {
		out[i] = out[i] || b[i]
	}
	return out
}

// drawMerged draws a diagram in which the resources of one type in one component are too many boxes.
func (d *Diagram) drawMerged(a arrangement, o Options) *Drawing {
	p := newPainter(d, a)
	var out *Drawing
	for _, m := range []Merging{OfPackage, OfChange} {
		if out = p.draw(m, o); len(out.boxes) <= o.Limit {
			break
		}
	}
	out.Collapsed = o.Expand && a.isCollapsed()
	return out
}

// changedPart is a part of a diagram. The components around it are open, and its resources are drawn one by one if it has a name.
type changedPart struct {
	name  Part
	nodes []int
}

// changedParts returns the parts of a large diagram that may be open in a drawing of so many boxes, the most informative first. The last one is
// empty.
func (d *Diagram) changedParts(most int) []changedPart {
	needs, needed := d.neighbours()
	var out []changedPart
	add := func(name Part, nodes []int) {
		if 0 < len(nodes) && len(nodes) <= most {
			out = append(out, changedPart{name, nodes})
		}
	}
	both := func(nodes []int) []int {
		all := slices.Concat(reach(nodes, needs, 1), reach(nodes, needed, 1))
		slices.Sort(all)
		return slices.Compact(all)
	}
	changed := d.where(Node.isChanged)
	failed := d.where(func(n Node) bool { return n.Trouble.isFailure() })
	add(ChangedAndNeighbours, both(changed))
	add(ChangedOnly, changed)
	add(FailedAndNeighbours, both(failed))
	add(FailedOnly, failed)
	return append(out, changedPart{nodes: changed}, changedPart{nodes: failed}, changedPart{})
}

// all returns a set of all nodes.
func (d *Diagram) all() []bool {
	out := make([]bool, len(d.Nodes))
	for i := range out {
		out[i] = true
	}
	return out
}

// around returns the set of the components around nodes.
func (d *Diagram) around(nodes []int) []bool {
	out := make([]bool, len(d.Nodes))
	for _, i := range nodes {
		for c := d.component(i); c != none; c = d.component(c) {
			out[c] = true
		}
	}
	return out
}

// small returns the set of components with few resources in them.
func (d *Diagram) small() []bool {
	inside := make([]int, len(d.Nodes))
	for i := range d.Nodes {
		for c := d.component(i); c != none; c = d.component(c) {
			inside[c]++
		}
	}
	out := make([]bool, len(d.Nodes))
	for i, n := range inside {
		out[i] = 0 < n && n <= smallComponent
	}
	return out
}

// upward returns the part of a set of components that are in no component outside of the set.
func (d *Diagram) upward(open []bool) []bool {
	out := slices.Clone(open)
	for i := range out {
		for c := d.component(i); c != none; c = d.component(c) {
			out[i] = out[i] && open[c]
		}
	}
	return out
}

// title returns the title of a picture, "" in a report.
func (d *Diagram) title() string {
	if d.InReport {
		return ""
	}
	text := shown(d.Project) + "/" + shown(d.Stack) + ": " + count(len(d.Nodes), "resource", "resources")
	if d.Waves > 0 {
		text += ", deleted in " + count(d.Waves, "wave", "waves")
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
	parts := t.parts(func(c Change, n int) string { return fmt.Sprintf("%s %s: %s", marks[c], c, thousands(n)) })
	if d.Planned && parts == nil {
		return "the plan changes nothing"
	}
	return strings.Join(parts, "    ")
}

// JSON returns the whole diagram as JSON. Nothing is collapsed, and names are exact.
func (d *Diagram) JSON() ([]byte, error) {
	doc := document{Version: 1, Project: d.Project, Stack: d.Stack, Waves: d.Waves, Nodes: []documentNode{}, Edges: []documentEdge{}}
	for i, n := range d.Nodes {
		node := documentNode{
			ID: nodeName(i), URN: n.URN, Type: n.Type, Name: n.Name, Component: n.Component, Protected: n.Protected, Old: n.Old,
			Change: n.Change, Uncertain: n.Uncertain, Wave: n.Wave,
		}
		if n.Parent != none {
			node.Parent = nodeName(n.Parent)
		}
		doc.Nodes = append(doc.Nodes, node)
	}
	for _, e := range d.Edges {
		doc.Edges = append(doc.Edges, documentEdge{nodeName(e.Node), nodeName(e.On), e.Kind, e.Properties})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return escapeInvisible(b.Bytes()), nil
}

// escapeInvisible escapes the invisible characters of JSON texts, such as those that change the direction of the text.
func escapeInvisible(text []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r < unicode.MaxASCII || unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
