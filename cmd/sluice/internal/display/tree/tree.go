package tree

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

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
	case stages.Summary:
		if !e.IsPreview {
			t.settle()
		}
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

// settle turns the replacements whose old objects were deleted, and whose new objects were not reached, into deletes.
func (t *Tree) settle() {
	for _, n := range t.nodes {
		if r := cmp.Or(n.Step.New, n.Step.Old); n.Status == Done && n.Step.Op == stages.OpReplace && n.gone && !n.made && r != nil && r.ViewOf == "" {
			n.change(func() { n.Step.Op = stages.OpDelete })
		}
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
		if !d.IsFailure() {
			return // there is no step yet
		}
		n = t.add(d.URN, t.above(d.Parent))
	}
	if d.IsFailure() {
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

// Renamed is the outcome of a resource that has another name than before, and is unchanged else. It is no kind of step.
const Renamed stages.Op = "rename"

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
