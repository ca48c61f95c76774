package tree

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
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

// Tree has the nodes of all resources. It is not safe for concurrent use.
type Tree struct {
	Top   *Node // not a resource: the parent of those without one
	nodes map[urn.URN]*Node
	// renamed has the current URNs of the resources that were found by an alias, by their recorded URNs.
	renamed map[urn.URN]urn.URN
	room    []Node // for further nodes, which are allocated together
	// recent are the resources that were changed last, in the order in which they ended. A resource may be there twice.
	recent []*Node
}

// maxRecent is the number of resources that were changed last: enough for a tall screen.
const maxRecent = 256

// roomFor is how many nodes are allocated together.
const roomFor = 64

// New returns an empty tree, with room for the expected number of resources.
func New(expected int) *Tree {
	return &Tree{Top: &Node{}, nodes: make(map[urn.URN]*Node, expected), renamed: map[urn.URN]urn.URN{}}
}

// Node returns the node of a resource, nil if there was no event about it or its subtree.
func (t *Tree) Node(u urn.URN) *Node { return t.nodes[u] }

// Len returns the number of nodes.
func (t *Tree) Len() int { return len(t.nodes) }

// Observe processes an event.
func (t *Tree) Observe(e stages.Event) {
	switch e := e.(type) {
	case stages.StepStarted:
		switch custom := IsCustom(&e.Step); {
		case !isShown(&e.Step):
		case custom && e.Step.Op != stages.OpSame && e.Step.Op != stages.OpReplace:
			t.begin(&e.Step, e.At)
		case !custom && e.Step.Op != stages.OpRefresh:
			t.end(&e.Step, Done, e.At) // no provider is called for a component
		default:
			t.place(&e.Step)
		}
	case stages.StepDone:
		switch {
		case e.Step.Op == stages.OpRemovePendingReplace:
			t.giveUp(&e.Step)
		case !isShown(&e.Step):
		case e.Outputs:
			t.place(&e.Step).closed = true
		default:
			t.end(&e.Step, Done, e.At)
		}
	case stages.StepFailed:
		if isShown(&e.Step) {
			t.end(&e.Step, Failed, e.At).Err = e.Err
		}
	case stages.Diagnostic:
		t.diagnose(e)
	}
}

// Correct puts the reason of a delete into the node that shows it. Other steps have their final reasons from the beginning.
func (t *Tree) Correct(s *stages.StepInfo) {
	n := t.nodes[s.URN]
	if n != nil && s.New == nil && n.Step.New == nil && n.Step.Old == s.Old && n.Step.Op == wholeOp(s) {
		n.Step.Reason = s.Reason
	}
}

// giveUp turns a replacement whose new object does not come, because the program does not declare the resource, into a delete.
func (t *Tree) giveUp(s *stages.StepInfo) {
	if n := t.nodes[s.URN]; n != nil && n.Step.Op == stages.OpReplace && n.gone && !n.made {
		n.change(func() { n.Step.Op, n.Step.Reason = stages.OpDelete, s.Reason })
	}
}

// isShown reports whether a step belongs to a resource that displays show.
func isShown(s *stages.StepInfo) bool { return !s.Internal && s.Op != stages.OpRemovePendingReplace }

// IsCustom reports whether a step belongs to a custom resource.
func IsCustom(s *stages.StepInfo) bool {
	r := cmp.Or(s.New, s.Old)
	return r != nil && r.Custom
}

func (t *Tree) begin(s *stages.StepInfo, at time.Time) {
	n := t.place(s)
	n.change(func() {
		n.Doing, n.Since = s.Op, at
		if n.Status != Failed {
			n.Status = Running
		}
		if s.Op != stages.OpRefresh { // the result of a refresh is not known yet
			n.join(s)
		}
	})
}

func (t *Tree) end(s *stages.StepInfo, status Status, at time.Time) *Node {
	n := t.place(s)
	n.change(func() {
		if !n.Since.IsZero() {
			n.Took, n.Since = n.Took+max(at.Sub(n.Since), 0), time.Time{}
		}
		if n.Status != Failed {
			n.Status = status
		}
		if status == Done {
			n.made = n.made || stages.Replacing(s.Op)
			n.gone = n.gone || s.Op == stages.OpDeleteReplaced || s.Op == stages.OpDiscardReplaced
		}
		n.join(s)
	})
	if status == Done && n.Step.Op != stages.OpSame {
		if len(t.recent) == 2*maxRecent {
			t.recent = append(t.recent[:0], t.recent[maxRecent:]...)
		}
		t.recent = append(t.recent, n)
	}
	return n
}

// Recent returns resources that were changed last, the last one first.
func (t *Tree) Recent() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for i := len(t.recent) - 1; i >= max(len(t.recent)-maxRecent, 0); i-- {
			if !yield(t.recent[i]) {
				return
			}
		}
	}
}

func (t *Tree) diagnose(d stages.Diagnostic) {
	if d.URN == "" || d.Ephemeral || d.Severity == stages.Debug {
		return
	}
	n := t.nodes[d.URN]
	if n == nil {
		if d.Severity != stages.Error {
			return // there is no step yet
		}
		n = t.add(d.URN, t.above(d.Parent))
	}
	if d.Severity == stages.Error {
		n.change(func() { n.Status = Failed })
	} else if n.Status == Failed {
		return // the error is more important
	}
	n.Note = d.Message
	if len(n.Note) > maxNote {
		n.Note = strings.ToValidUTF8(strings.Clone(n.Note[:maxNote]), "") // frees the rest
	}
}

// maxNote is the number of bytes that a node keeps of a message.
const maxNote = 1 << 10

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

// place returns the node of a step's resource, below its parent.
func (t *Tree) place(s *stages.StepInfo) *Node {
	r, u := cmp.Or(s.New, s.Old), t.Resource(s)
	declares := s.New != nil && s.Op != stages.OpRefresh
	if former := s.FormerURN(); former != "" && declares {
		t.rename(former, u)
	}
	n := t.nodes[u]
	if n != nil && (n.known || r == nil) {
		n.declared = n.declared || declares
		return n
	}
	parent := t.Top
	if r != nil && r.Parent != u {
		above := r.Parent
		if now, renamed := t.renamed[above]; renamed && !declares {
			above = now
		}
		parent = t.above(above)
	}
	if n == nil {
		n = t.add(u, parent)
	} else if parent != n.Parent && !parent.isBelow(n) {
		n.moveTo(parent)
	}
	n.known, n.declared = r != nil, declares
	return n
}

// above returns the node of a parent, which is the top for "".
func (t *Tree) above(parent urn.URN) *Node {
	if parent == "" {
		return t.Top
	}
	if n := t.nodes[parent]; n != nil {
		return n
	}
	return t.add(parent, t.Top)
}

// Resource returns the current URN of a step's resource. A step about a recorded state has the recorded URN, which another resource may have by now.
func (t *Tree) Resource(s *stages.StepInfo) urn.URN {
	if now, renamed := t.renamed[s.URN]; renamed && s.CurrentURN == "" && (s.New == nil || s.Op == stages.OpRefresh) && (s.Old == nil || !s.Old.Delete) {
		return now
	}
	return s.Resource()
}

// rename records that a resource has another URN now. Steps about it may have come before its registration: a refresh, or the delete of a
// delete-before-replace. Its node, and the nodes below it, get their places then.
func (t *Tree) rename(former, now urn.URN) {
	if t.renamed[former] == now {
		return
	}
	t.renamed[former] = now
	n := t.nodes[former]
	if n == nil || n.declared {
		return
	}
	delete(t.nodes, former)
	if other := t.nodes[now]; other != nil {
		t.merge(n, other)
		return
	}
	n.URN, n.known = now, false // its parent may have another URN, too
	n.Parent.ordered = 0
	t.nodes[now] = n
}

// merge moves the children of a node to another one, and removes the node.
func (t *Tree) merge(n, into *Node) {
	for _, c := range slices.Collect(n.Children()) {
		if !into.isBelow(c) {
			c.moveTo(into)
		}
	}
	into.made, into.gone = into.made || n.made, into.gone || n.gone
	n.change(func() { n.Status = Unseen })
	was := n.Parent
	n.Parent = nil
	delete(was.running, n)
	was.failed = slices.DeleteFunc(was.failed, func(c *Node) bool { return c == n })
	was.moved++
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

// Renamed is the outcome of a resource that has another name than before, and is unchanged else. It is no kind of step.
const Renamed stages.Op = "rename"

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

func (t *Tree) add(u urn.URN, parent *Node) *Node {
	if len(t.room) == 0 {
		t.room = make([]Node, roomFor)
	}
	n := &t.room[0]
	t.room = t.room[1:]
	n.URN, n.Parent = u, parent
	parent.children = append(parent.children, n)
	t.nodes[u] = n
	return n
}

// Branch is [Node.Branch] for a node below the top.
func Branch(above string, last bool) (here, below string) {
	if last {
		return above + "└─ ", above + "   "
	}
	return above + "├─ ", above + "│  "
}
