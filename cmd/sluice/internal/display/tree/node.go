package tree

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Status is the status of a resource.
type Status int

// The statuses of a resource.
const (
	Unseen  Status = iota // there were only events about its subtree, or messages about it
	Running               // a step has begun and not ended
	Done                  // its last step has succeeded; in a preview, it is planned
	Failed                // a step has failed, or there was an error message
)

// Counts are counts of a resource and its subtree.
type Counts struct {
	Running, Failed int
	Done            Tally
}

func (c *Counts) addDone(op stages.Op, by int) {
	if op != "" {
		c.Done.Add(op, by)
	}
}

func (c *Counts) add(other Counts, by int) {
	c.Running += by * other.Running
	c.Failed += by * other.Failed
	for _, x := range other.Done {
		c.Done.Add(x.Op, by*x.N)
	}
}

// Node is a resource.
type Node struct {
	URN    urn.URN
	Step   stages.StepInfo // the most significant step; its Op is that of the whole, such as OpReplace
	Status Status
	Doing  stages.Op // the kind of the running step
	Since  time.Time // when the running step began
	Took   time.Duration
	Err    error  // of the failed step
	Note   string // the beginning of the last message about it

	Parent *Node  // nil for the top
	Below  Counts // includes the node itself

	children []*Node            // those with another parent have been moved there
	ordered  int                // how many children, at the beginning, are in the order of [Node.InOrder]
	moved    int                // how many of them have moved
	running  map[*Node]struct{} // children that run or have a running descendant
	failed   []*Node            // children that failed or have a failed descendant, in the order of the failures
	listed   bool               // it is in the list of failures of its parent
	known    bool               // its parent is known
	closed   bool               // the outputs of a component are registered: it is complete
	made     bool               // the new object of a replacement exists
	gone     bool               // the old object of a replacement is deleted
	declared bool               // the program has registered the resource
}

// join records the operation that a step is a part of, unless a more significant one is known.
func (n *Node) join(s *stages.StepInfo) {
	op := wholeOp(s)
	switch was := n.Step.Op; {
	case was == "":
	case was == stages.OpReplace && op != stages.OpDelete,
		// The step deletes an old copy, and the resource stays.
		was != stages.OpSame && was != stages.OpRead && was != stages.OpRefresh && takesAway(op),
		was != stages.OpSame && op == stages.OpSame:
		if op == was && (n.Step.Old == nil || len(n.Step.Keys) == 0) {
			break // the same replacement, perhaps with more details
		}
		return
	}
	n.Step = *s
	n.Step.Op = op
}

func (n *Node) isBelow(other *Node) bool {
	for ; n != nil; n = n.Parent {
		if n == other {
			return true
		}
	}
	return false
}

// InOrder is [Node.Children] in the order of compare, which must always be the same. A call sorts only the children that are new since the last call,
// and so takes little time for a node with many children.
func (n *Node) InOrder(compare func(a, b *Node) int) iter.Seq[*Node] {
	if late := slices.Clone(n.children[n.ordered:]); len(late) > 0 {
		slices.SortFunc(late, compare)
		at := n.ordered - 1 // merged from the end, so that sorted children stay in place
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

// Children returns the children of a node, in no order.
func (n *Node) Children() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, c := range n.children {
			if c.Parent == n && !yield(c) {
				return
			}
		}
	}
}

// Running returns the children that run, or have a running descendant, in no order.
func (n *Node) Running() iter.Seq[*Node] { return maps.Keys(n.running) }

// Failed returns the children that failed, or have a failed descendant, in the order of the first failures.
func (n *Node) Failed() []*Node { return n.failed }

// IsLeaf reports whether the node has no children.
func (n *Node) IsLeaf() bool { return len(n.children) == n.moved }

// Branch returns the prefixes of a node and of its children in a drawing. above is the prefix of its siblings. last reports whether it is the last
// sibling. The children of the top have no prefix.
func (n *Node) Branch(above string, last bool) (here, below string) {
	if n.Parent.Parent == nil {
		return "", ""
	}
	return Branch(above, last)
}

// Remains reports whether a resource is replaced and its old object is still there.
func (n *Node) Remains() bool { return n.made && !n.gone }

// IsOpen reports whether a component is being created or changed: it is not complete, or a descendant runs.
func (n *Node) IsOpen() bool {
	switch n.Step.Op {
	case stages.OpCreate, stages.OpUpdate, stages.OpReplace, stages.OpImport:
		return n.Status == Done && !IsCustom(&n.Step) && (!n.closed || n.Below.Running > 0)
	}
	return false
}

// Outcome is the contribution of the node itself to the tally of what is done, "" if it has none. A replacement whose old object is still there is a
// [stages.OpCreateReplacement].
func (n *Node) Outcome() stages.Op {
	switch {
	case n.Status != Done:
		return ""
	case n.Step.Op == stages.OpSame && n.Step.FormerURN() != "":
		return Renamed
	case n.Step.Op == stages.OpReplace && n.Remains():
		return stages.OpCreateReplacement
	}
	return n.Step.Op
}

// share returns the contribution of the node itself to the counts.
func (n *Node) share() (running, failed int, done stages.Op) {
	switch n.Status {
	case Running:
		return 1, 0, ""
	case Failed:
		return 0, 1, ""
	}
	return 0, 0, n.Outcome()
}

// change calls f, which changes the node, and updates the counts of all ancestors.
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

// moveTo makes the node and its subtree a child of another node, which is not in that subtree.
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

// Branch is [Node.Branch] for a node below the top.
func Branch(above string, last bool) (here, below string) {
	if last {
		return above + "└─ ", above + "   "
	}
	return above + "├─ ", above + "│  "
}

// wholeOp returns the kind of the operation on a resource that a step is a part of.
func wholeOp(s *stages.StepInfo) stages.Op {
	if s.Op == stages.OpRefresh && s.Reason.Kind == stages.ReasonUnchanged {
		return stages.OpSame
	}
	if s.Old != nil && s.Old.Delete && takesAway(s.Op) { // the rest of an earlier operation's replacement, or the end of one that is recorded already
		return s.Op
	}
	return s.Op.Whole()
}

// takesAway reports whether a step only deletes or discards an object.
func takesAway(op stages.Op) bool {
	switch op {
	case stages.OpDelete, stages.OpDiscard, stages.OpDeleteReplaced, stages.OpDiscardReplaced:
		return true
	}
	return false
}

// Tally counts resources by their actual or planned change. One node has few kinds below it, so a list takes less memory than a map. It leaves
// out kinds with a count of zero.
type Tally []Tallied

// Tallied is the count of one kind. A [Tally] is sorted by kind.
type Tallied struct {
	Op stages.Op
	N  int
}

// Of returns the count of a kind.
func (t Tally) Of(op stages.Op) int {
	for _, x := range t {
		if x.Op == op {
			return x.N
		}
	}
	return 0
}

// Add adds n to the count of a kind.
func (t *Tally) Add(op stages.Op, n int) {
	i, found := slices.BinarySearchFunc(*t, op, func(x Tallied, op stages.Op) int { return cmp.Compare(x.Op, op) })
	switch {
	case !found && n != 0:
		*t = slices.Insert(*t, i, Tallied{op, n})
	case found && (*t)[i].N+n == 0:
		*t = slices.Delete(*t, i, i+1)
	case found:
		(*t)[i].N += n
	}
}
