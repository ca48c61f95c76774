package diagram

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// units are the boxes of a diagram in one arrangement, before any are merged.
type units struct {
	diagram *Diagram
	boxes   []box
	of      []int // the box of each node, none for a component that is only a frame
	frames  []frame
	arrows  []arrow // between boxes
}

func newUnits(d *Diagram, a arrangement) *units {
	u := &units{diagram: d, of: make([]int, len(d.Nodes))}
	frames := u.addFrames(a)
	ends := u.ends()
	for i := range d.Nodes {
		u.of[i] = none
	}
	for i := range d.Nodes {
		at := u.holder(i, a)
		if frames[i] != none && !ends[i] {
			continue
		}
		if u.of[at] == none {
			u.of[at] = len(u.boxes)
			u.boxes = append(u.boxes, box{frame: u.frameOf(at, frames)})
		}
		u.of[i] = u.of[at]
		b := &u.boxes[u.of[at]]
		b.members = append(b.members, i)
		b.apart = b.apart || a.isApart(i)
	}
	u.connectAll()
	for i := range u.boxes {
		u.describe(&u.boxes[i])
	}
	return u
}

// addFrames adds the frames, and returns the frame of each component that has one, and none for all other nodes.
func (u *units) addFrames(a arrangement) []int {
	at := make([]int, len(u.diagram.Nodes))
	inside := make([]bool, len(u.diagram.Nodes))
	for i := range u.diagram.Nodes {
		at[i] = none
		if c := u.diagram.component(i); c != none && a.isOpen(c) {
			inside[c] = true
		}
	}
	for i, n := range u.diagram.Nodes {
		if inside[i] {
			at[i] = len(u.frames)
			u.frames = append(u.frames, frame{title: u.label(n) + "\n" + shown(string(n.Type.Short())), tip: tip(n.URN), border: n.border()})
		}
	}
	for i := range u.diagram.Nodes {
		if at[i] != none {
			u.frames[at[i]].parent = none
			if c := u.diagram.component(i); c != none {
				u.frames[at[i]].parent = at[c]
			}
		}
	}
	return at
}

// frameOf returns the frame around a node. A component that is a frame is in its own.
func (u *units) frameOf(i int, frames []int) int {
	if frames[i] != none {
		return frames[i]
	}
	if c := u.diagram.component(i); c != none {
		return frames[c]
	}
	return none
}

// isOutermost reports whether no component around a node is in the same box.
func (u *units) isOutermost(i int) bool {
	c := u.diagram.component(i)
	return c == none || u.of[c] != u.of[i]
}

// ends reports which nodes are the end of an edge.
func (u *units) ends() []bool {
	out := make([]bool, len(u.diagram.Nodes))
	for _, e := range u.diagram.Edges {
		out[e.Node], out[e.On] = true, true
	}
	return out
}

// holder returns the node whose box has a node: the outermost component around it that is not open, or the node itself.
func (u *units) holder(i int, a arrangement) int {
	at := i
	if a.flat {
		return at
	}
	for c := u.diagram.component(i); c != none; c = u.diagram.component(c) {
		if !a.isOpen(c) {
			at = c
		}
	}
	return at
}

func (u *units) connectAll() {
	for _, e := range u.diagram.Edges {
		kind := needsIt
		if e.Kind == Provider {
			kind = isProvider
		}
		u.connect(e.On, e.Node, kind)
	}
	for i, n := range u.diagram.Nodes {
		if n.Parent != none {
			u.connect(n.Parent, i, isParent)
		}
	}
}

// connect draws an arrow between the boxes of two nodes. A frame has no arrow to its children: it encloses them.
func (u *units) connect(from, to int, kind arrowKind) {
	if u.of[from] == none || u.of[to] == none || kind == isParent && u.diagram.Nodes[from].Component && u.diagram.Waves == 0 {
		return
	}
	if a := (arrow{u.of[from], u.of[to], kind}); a.from != a.to {
		u.arrows = append(u.arrows, a)
	}
}

// describe sets the texts of a box, before any are merged.
func (u *units) describe(b *box) {
	head := b.members[0]
	for _, i := range b.members {
		n := u.diagram.Nodes[i]
		if n.Component && u.isOutermost(i) {
			head = i // a parent may come after its children in a plan
		}
		b.change = worse(b.change, n.Change)
		if n.Trouble == "" {
			b.done = worse(b.done, n.Change)
		}
		b.uncertain = b.uncertain || n.Uncertain
		b.trouble = worseTrouble(b.trouble, n.Trouble)
	}
	first := u.diagram.Nodes[head]
	b.wave = first.Wave
	b.heads = []int{head}
	b.tip = tip(first.URN)
	b.name = shown(first.Name)
	b.lines = []string{u.label(first), shown(string(first.Type.Short()))}
	switch {
	case first.Component:
		b.shape = ofComponent
		if b.trouble != "" && first.Trouble == "" {
			b.lines[0] += " (" + string(b.trouble) + " inside)"
		}
		if len(b.members) > 1 {
			b.lines = append(b.lines, u.contents(b.members))
		}
	case first.Type.IsProvider():
		b.shape = ofProvider
	}
	b.key = boxKey{typ: first.Type, change: b.change, done: b.done, uncertain: b.uncertain, old: first.Old, trouble: b.trouble, wave: b.wave, frame: b.frame}
}

// label returns the name of a resource with its change.
func (u *units) label(n Node) string {
	text := shown(n.Name)
	if n.Old {
		text += " (old copy)"
	}
	if n.Change != "" {
		text = marks[n.Change] + " " + text
	}
	if n.Uncertain {
		text += " (possibly)"
	}
	if n.Trouble != "" {
		text += " (" + string(n.Trouble) + ")"
	}
	return text
}

// contents counts the resources in a component, without the component itself.
func (u *units) contents(members []int) string {
	var t tally
	for _, i := range members {
		t.count(u.diagram.Nodes[i])
	}
	text := format.PluralThousands(len(members)-1, "resource", "resources")
	if parts := t.parts(func(c Change, n int) string { return fmt.Sprintf("%s%d", marks[c], n) }); parts != nil {
		text += ": " + strings.Join(parts, " ")
	}
	return text
}
