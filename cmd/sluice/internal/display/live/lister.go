package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// line is a line of the tree: a resource, or a count of others.
type line struct {
	branch string
	node   *tree.Node // nil for a count of others
	others string
}

// extent selects the resources of the tree to show.
type extent int

const (
	everything extent = iota
	changes           // all but unchanged ones
	current           // running and failed ones
)

// lister makes the lines of a tree.
type lister struct {
	sight  display.Sight
	folds  map[urn.URN]bool
	filter string // in lower case
	extent extent
	most   int                         // the maximal number of listed children of a node
	order  func(a, b *tree.Node) int   // of siblings
	danger bool                        // the order is by danger, and changes with events
	also   map[*tree.Node][]*tree.Node // finished children that are listed too, by parent
	out    []line
}

func (l *lister) list(n *tree.Node, branch string) {
	children := l.children(n)
	others := l.others(n, children)
	for i, c := range children {
		here, below := c.Branch(branch, i == len(children)-1 && others == "")
		l.out = append(l.out, line{branch: here, node: c})
		l.list(c, below)
	}
	if others != "" {
		if n.Parent != nil {
			branch += "└─ "
		}
		l.out = append(l.out, line{branch: branch, others: others})
	}
}

// children returns the listed children, in order. If there is not room for all, failures come first.
func (l *lister) children(n *tree.Node) []*tree.Node {
	out := l.listed(n)
	if l.danger {
		slices.SortFunc(out, l.order)
	}
	return out
}

// all returns all children, sorted if their order is fixed.
func (l *lister) all(n *tree.Node) []*tree.Node {
	if l.danger {
		return slices.Collect(n.Children())
	}
	return slices.Collect(n.InOrder(l.order))
}

func (l *lister) listed(n *tree.Node) []*tree.Node {
	hide, set := l.folds[n.URN]
	var out []*tree.Node
	switch {
	case l.filter != "":
		out = l.all(n)
		out = slices.DeleteFunc(out, func(c *tree.Node) bool { return !l.matches(c) })
	case set && hide:
	case set || l.extent == everything:
		out = l.all(n)
	case l.extent == changes:
		out = l.all(n)
		out = slices.DeleteFunc(out, func(c *tree.Node) bool { return isUnchanged(c.Below) })
	default:
		out = slices.Clone(n.Failed()[:min(len(n.Failed()), l.most)])
		known := map[*tree.Node]bool{}
		for _, c := range out {
			known[c] = true
		}
		for c := range n.Running() {
			if !known[c] {
				out = append(out, c)
			}
		}
		for u := range maps.Keys(l.folds) { // nodes opened by the user stay visible
			if c := l.sight.Tree.Node(u); c != nil && c.Parent == n && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
		for _, c := range l.also[n] {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
		slices.SortFunc(out, func(a, b *tree.Node) int {
			return cmp.Or(cmp.Compare(min(b.Below.Failed, 1), min(a.Below.Failed, 1)), l.order(a, b))
		})
	}
	return out
}

// fill lists the resources that were changed last, too, as far as there is room.
func (l *lister) fill(room int) {
	shown := map[*tree.Node]bool{nil: true, l.sight.Tree.Top: true}
	for _, line := range l.out {
		shown[line.node] = true
	}
	var added []*tree.Node
	free := room - len(l.out)
	for n := range l.sight.Tree.Recent() {
		if free <= 0 {
			break
		}
		var chain []*tree.Node // with the ancestors that are not listed
		for at := n; !shown[at]; at = at.Parent {
			if l.folds[at.Parent.URN] { // closed by the user
				chain = nil
				break
			}
			chain = append(chain, at)
		}
		if len(chain) == 0 || len(chain) > free {
			continue
		}
		for _, at := range chain {
			shown[at] = true
		}
		added = append(added, chain...)
		free -= len(chain)
	}
	before := l.out
	for len(added) > 0 {
		l.also, l.out = map[*tree.Node][]*tree.Node{}, nil
		for _, n := range added {
			l.also[n.Parent] = append(l.also[n.Parent], n)
		}
		l.list(l.sight.Tree.Top, "")
		excess := len(l.out) - room // lines that count the others of the new rows
		if excess <= 0 {
			return
		}
		added = added[:max(len(added)-excess, 0)]
	}
	l.out = before
}

func isUnchanged(c tree.Counts) bool {
	return c.Running == 0 && c.Failed == 0 && len(c.Done) == 1 && c.Done.Of(stages.OpSame) > 0
}

func (l *lister) matches(n *tree.Node) bool {
	if strings.Contains(strings.ToLower(n.URN.Name()), l.filter) || strings.Contains(strings.ToLower(string(n.URN.Type())), l.filter) {
		return true
	}
	for c := range n.Children() {
		if l.matches(c) {
			return true
		}
	}
	return false
}

// others describes the children of a node that are not listed.
func (l *lister) others(n *tree.Node, listed []*tree.Node) string {
	if l.filter != "" {
		return ""
	}
	done := slices.Clone(n.Below.Done)
	if op := n.Outcome(); op != "" {
		done.Add(op, -1)
	}
	for _, c := range listed {
		for _, x := range c.Below.Done {
			done.Add(x.Op, -x.N)
		}
	}
	return l.sight.Outcomes(done)
}

// linesOf returns the lines to draw. It folds finished resources if there is not room for all lines. Folds set by the user stay.
func linesOf(s display.Sight, folds map[urn.URN]bool, filter string, room int) []line {
	l := &lister{sight: s, folds: folds, filter: strings.ToLower(filter), most: max(4*room, 100), order: s.ByName()}
	switch all := s.Tree.Len(); {
	case l.filter != "":
		l.most = all
	case all <= room:
	case all-s.Tree.Top.Below.Done.Of(stages.OpSame) <= room:
		l.extent = changes
	default:
		l.extent = current
	}
	l.list(s.Tree.Top, "")
	if l.extent == current && len(l.out) < room {
		l.fill(room)
	}
	return l.out
}

// planned returns the lines of all changes that an operation has made or will make. The most dangerous sibling is first, then types and names
// decide.
func planned(s display.Sight, folds map[urn.URN]bool, filter string) []line {
	l := &lister{sight: s, folds: folds, filter: strings.ToLower(filter), extent: changes, order: s.ByDanger(), danger: true}
	l.list(s.Tree.Top, "")
	return l.out
}
