package tree

import (
	"iter"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/stages"
)

// InOrder is [Node.Children] in an order, which is always the same one. Only what is new since the last call is put in its place, so that a call costs
// little for a node with many children.
func (n *Node) InOrder(compare func(a, b *Node) int) iter.Seq[*Node] {
	if late := slices.Clone(n.children[n.ordered:]); len(late) > 0 {
		slices.SortFunc(late, compare)
		at := n.ordered - 1 // merged from the end, so that what is in its place stays there
		for to := len(n.children) - 1; len(late) > 0; to-- {
			if last := late[len(late)-1]; at < 0 || compare(n.children[at], last) <= 0 {
				n.children[to], late = last, late[:len(late)-1]
				continue
			}
			n.children[to] = n.children[at]
			at--
		}
		n.ordered = len(n.children)
	}
	return n.Children()
}

// Children returns what is directly below a node, in no order.
func (n *Node) Children() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, c := range n.children {
			if c.Parent == n && !yield(c) {
				return
			}
		}
	}
}

// Running returns the children that run or have something below that does, in no order.
func (n *Node) Running() iter.Seq[*Node] { return maps.Keys(n.running) }

// Failed returns the children that failed or have something below that did, in the order of the first failures.
func (n *Node) Failed() []*Node { return n.failed }

// IsLeaf reports whether nothing is below the node.
func (n *Node) IsLeaf() bool { return len(n.children) == n.moved }

// Branch returns what leads to a node in a drawing, and what to its children: above is what leads to its siblings. last is true if none
// of these follows. Nothing leads to what is below the top.
func (n *Node) Branch(above string, last bool) (here, below string) {
	if n.Parent.Parent == nil {
		return "", ""
	}
	return Branch(above, last)
}

// Branch is [Node.Branch] for what is below something.
func Branch(above string, last bool) (here, below string) {
	if last {
		return above + "└─ ", above + "   "
	}
	return above + "├─ ", above + "│  "
}

// Remains reports whether a resource is replaced and its old object is still there.
func (n *Node) Remains() bool { return n.made && !n.gone }

// IsOpen reports whether a component is being made or changed: it is not complete, or something below it runs.
func (n *Node) IsOpen() bool {
	switch n.Step.Op {
	case stages.OpCreate, stages.OpUpdate, stages.OpReplace, stages.OpImport:
		return n.Status == Done && !IsCustom(&n.Step) && (!n.closed || n.Below.Running > 0)
	}
	return false
}

// Outcome is what a node itself adds to the tally of what is done, "" if it adds nothing. A replacement whose old object is still there is a
// [stages.OpCreateReplacement].
func (n *Node) Outcome() stages.Op {
	switch {
	case n.Status != Done:
		return ""
	case n.Step.Op == stages.OpReplace && n.Remains():
		return stages.OpCreateReplacement
	}
	return n.Step.Op
}

// share returns what a node itself adds to the counts.
func (n *Node) share() (running, failed int, done stages.Op) {
	switch n.Status {
	case Running:
		return 1, 0, ""
	case Failed:
		return 0, 1, ""
	}
	return 0, 0, n.Outcome()
}

// change calls f, which changes the node, and keeps the counts of everything above.
func (n *Node) change(f func()) {
	running, failed, done := n.share()
	f()
	nowRunning, nowFailed, nowDone := n.share()
	if running == nowRunning && failed == nowFailed && done == nowDone {
		return
	}
	for at := n; at != nil; at = at.Parent {
		at.Below.Running += nowRunning - running
		at.Below.Failed += nowFailed - failed
		at.Below.addDone(done, -1)
		at.Below.addDone(nowDone, 1)
		at.list()
	}
}

func (c *Counts) addDone(op stages.Op, by int) {
	if op != "" {
		c.Done.Add(op, by)
	}
}

// list enters the node in the lists of its parent.
func (n *Node) list() {
	p := n.Parent
	if p == nil {
		return
	}
	if n.Below.Running > 0 {
		if p.running == nil {
			p.running = map[*Node]struct{}{}
		}
		p.running[n] = struct{}{}
	} else {
		delete(p.running, n)
	}
	if n.Below.Failed > 0 && !n.listed {
		n.listed = true
		p.failed = append(p.failed, n)
	}
}

// moveTo makes the node, with everything below it, a child of another one, which is not below it.
func (n *Node) moveTo(parent *Node) {
	was := n.Parent
	for at := was; at != nil; at = at.Parent {
		at.Below.add(n.Below, -1)
	}
	delete(was.running, n)
	was.failed = slices.DeleteFunc(was.failed, func(c *Node) bool { return c == n })
	n.listed = false
	if was.moved++; was.moved > len(was.children)/2 {
		was.children = slices.DeleteFunc(was.children, func(c *Node) bool { return c.Parent != was || c == n })
		was.moved, was.ordered = 0, 0
	}
	n.Parent = parent
	parent.children = append(parent.children, n)
	for at := parent; at != nil; at = at.Parent {
		at.Below.add(n.Below, 1)
	}
	for at := n; at != nil; at = at.Parent {
		at.list()
	}
}

func (c *Counts) add(other Counts, by int) {
	c.Running += by * other.Running
	c.Failed += by * other.Failed
	for _, x := range other.Done {
		c.Done.Add(x.Op, by*x.N)
	}
}
