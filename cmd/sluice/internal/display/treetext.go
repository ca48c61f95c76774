package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// minGroup is the number of equal siblings from which they share a row.
const minGroup = 8

// Limits on the width of the columns of a tree, for the sake of one long name.
const (
	maxTypeWidth = 60
	maxNameWidth = 40
	minFate      = 25 // the width left for the outcome of a resource, on a terminal that is not narrow
)

// treePrinter draws the tree of the changed resources.
type treePrinter struct {
	steps   stepPrinter
	grouped groupNames         // of the tree
	signs   map[stages.Op]bool // gets the kinds whose signs are in rows; may be nil
}

// treeRow is a row of a tree: one resource, or several that differ only in their names.
type treeRow struct {
	branch string // its prefix: "│  ├─ "
	mark   string
	kind   string
	name   string
	fate   string
	group  []*tree.Node
}

// text draws the resources that an operation changes as a tree, in the order of types and names: the text depends on the events, and
// not on their times. It returns "" if there are none.
func (p treePrinter) text(t *tree.Tree) string {
	p.grouped = p.groupsOf(t)
	rows := p.rows(t.Top, "")
	var c columns
	for _, r := range rows {
		c.widen(r.branch+r.kind, r.name)
	}
	c = p.steps.layout().narrowed(c)
	var b strings.Builder
	for _, r := range rows {
		kind := p.steps.style.paint(grey, r.branch) + p.steps.layout().shortened(r.kind, c.kinds-ansi.StringWidth(r.branch))
		line := " " + r.mark + " " + padded(kind, c.kinds) + " " + padded(r.name, c.names) + " " + r.fate
		b.WriteString(p.steps.layout().fitted(strings.TrimRight(line, " ")) + "\n")
	}
	return b.String()
}

// blocks draws the resources with their properties, one block each, in the order of types and names.
func (p treePrinter) blocks(t *tree.Tree) string {
	var b strings.Builder
	var draw func(n *tree.Node, depth int)
	byName := byKindAndName()
	draw = func(n *tree.Node, depth int) {
		children := slices.DeleteFunc(slices.Collect(n.Children()), func(c *tree.Node) bool { return !p.draws(c) })
		slices.SortFunc(children, byName)
		for _, c := range children {
			below := depth
			switch {
			case c.Status == tree.Done && p.steps.shows(c.Step):
				b.WriteString(p.steps.layout().fitted(blockPrinter{p.steps}.text(c.Step, depth)))
				p.sign(c.Step.Op)
				below++
			case c.Status != tree.Done && c.Status != tree.Unseen:
				if c.Status == tree.Failed && p.steps.shows(c.Step) && (c.Step.Old != nil || c.Step.New != nil) {
					b.WriteString(p.steps.layout().fitted(blockPrinter{p.steps}.text(c.Step, depth)))
				}
				row := p.row("", []*tree.Node{c})
				b.WriteString(strings.Repeat("    ", depth) + row.mark + " " + row.kind + " " + row.name + " " + row.fate + "\n")
			}
			draw(c, below)
		}
	}
	draw(t.Top, 0)
	return b.String()
}

// padded appends spaces up to a width in cells.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// rows returns the rows of the subtree below a node. branch is its prefix.
func (p treePrinter) rows(n *tree.Node, branch string) []treeRow {
	groups := p.groups(slices.Collect(n.Children()))
	var out []treeRow
	for i, g := range groups {
		here, below := g[0].Branch(branch, i == len(groups)-1)
		out = append(out, p.row(here, g))
		out = append(out, p.rows(g[0], below)...) // nodes that share a row have no children
	}
	return out
}

// groups returns the siblings to draw, in their order. Equal ones are in one group if there are many.
func (p treePrinter) groups(siblings []*tree.Node) [][]*tree.Node {
	var order []sibling
	groups := p.alike(siblings)
	kinds := kinds{}
	for i, g := range groups {
		first := sibling{group: i, node: g[0], kind: kinds.of(g[0].URN), name: g[0].URN.Name()}
		if len(g) < minGroup {
			order = append(order, first)
			for _, n := range g[1:] {
				order = append(order, sibling{group: i, node: n, kind: kinds.of(n.URN), name: n.URN.Name()})
			}
			continue
		}
		for at, n := range g {
			if other := (sibling{group: i, node: n, kind: first.kind, name: n.URN.Name()}); other.compare(first) < 0 {
				first = other
				g[0], g[at] = n, g[0]
			}
		}
		order = append(order, first)
	}
	slices.SortFunc(order, sibling.compare)
	out := make([][]*tree.Node, len(order))
	for i, s := range order {
		if out[i] = []*tree.Node{s.node}; len(groups[s.group]) >= minGroup {
			out[i] = groups[s.group]
		}
	}
	return out
}

// sibling is a node with a row, or the first one of a group with a row.
type sibling struct {
	group      int
	node       *tree.Node
	kind, name string
}

// compare orders siblings by types and names.
func (s sibling) compare(other sibling) int {
	return cmp.Or(compareKinds(s.kind, other.kind), natural.Compare(s.name, other.name), cmp.Compare(s.node.URN, other.node.URN))
}

// byKindAndName returns the order of siblings by types and names.
func byKindAndName() func(a, b *tree.Node) int {
	kinds, known := kinds{}, map[*tree.Node]sibling{} // to parse a URN for each comparison would take longer than the rest of a drawing
	of := func(n *tree.Node) sibling {
		s, is := known[n]
		if !is {
			s = sibling{node: n, kind: kinds.of(n.URN), name: n.URN.Name()}
			known[n] = s
		}
		return s
	}
	return func(a, b *tree.Node) int { return of(a).compare(of(b)) }
}

// look is the content of a row without the name.
type look struct {
	op         stages.Op
	kind       urn.Type
	stem, fate string
}

// alike returns the siblings that are drawn, grouped by look.
func (p treePrinter) alike(siblings []*tree.Node) [][]*tree.Node {
	var out [][]*tree.Node
	at := map[look]int{} // the group of each look
	for _, n := range siblings {
		if !p.draws(n) {
			continue
		}
		if !n.IsLeaf() || n.Status != tree.Done && !p.isAborted(n) || p.steps.ShowURNs || p.steps.ShowFullOutput {
			out = append(out, []*tree.Node{n})
			continue
		}
		l := look{n.Step.Op, n.URN.Type(), stem(n.URN.Name()), p.outcome(n, p.grouped.shared(n.Step), 0)}
		if p.isAborted(n) {
			l.fate = p.steps.failed(n.Step, n.Err, 0)
		}
		i, known := at[l]
		if !known {
			i = len(out)
			at[l] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], n)
	}
	return out
}

// groupsOf finds the groups of a tree.
func (p treePrinter) groupsOf(t *tree.Tree) groupNames {
	p.grouped = groupNames{}
	p.grouped.complete(func() (groups [][]urn.URN) {
		p.eachGroup(t.Top, func(g []*tree.Node) {
			us := make([]urn.URN, len(g))
			for i, n := range g {
				us[i] = n.URN
			}
			groups = append(groups, us)
		})
		return groups
	})
	return p.grouped
}

// eachGroup calls f for every group of siblings below a node that share a row.
func (p treePrinter) eachGroup(n *tree.Node, f func([]*tree.Node)) {
	children := slices.Collect(n.Children())
	for _, g := range p.alike(children) {
		if len(g) >= minGroup {
			f(g)
		}
	}
	for _, c := range children {
		if !c.IsLeaf() && p.draws(c) {
			p.eachGroup(c, f)
		}
	}
}

// stem returns the common part of names of one kind: "web-" of "web-1" and "web-2". Names with other differences are meaningful.
func stem(name string) string {
	if i := strings.IndexAny(name, "0123456789-_./:"); i >= 0 {
		return name[:i]
	}
	return name
}

// draws reports whether a resource, or any descendant, has a row.
func (p treePrinter) draws(n *tree.Node) bool {
	if n.Below.Failed+n.Below.Running > 0 {
		return true
	}
	for _, x := range n.Below.Done {
		if p.steps.shows(stages.StepInfo{Op: x.Op.Whole()}) {
			return true
		}
	}
	return false
}

func (p treePrinter) row(branch string, g []*tree.Node) treeRow {
	n := g[0]
	w := wordsFor(n.Step.Op)
	row := treeRow{branch: branch, mark: p.steps.style.paint(w.colour, w.mark), kind: shortType(n.URN.Type()), name: cleanLine(n.URN.Name()), group: g}
	if p.steps.ShowURNs {
		row.kind, row.name = cleanLine(string(n.URN)), ""
	}
	switch {
	case len(g) > 1:
		row.name = fmt.Sprintf("%s (%d)", pattern(nodeNames(g)), len(g))
		if row.fate = p.outcome(n, p.grouped.shared(n.Step), 0); p.isAborted(n) {
			row.fate = p.steps.failed(n.Step, n.Err, 0)
		}
		shortest, longest := n.Took, n.Took
		for _, m := range g {
			shortest, longest = min(shortest, m.Took), max(longest, m.Took)
		}
		if longest > 0 && !p.steps.IsPreview {
			row.fate += fmt.Sprintf(" (%s to %s)", formatTook(shortest), formatTook(longest))
		}
	case n.Status == tree.Unseen:
		row.mark = "  "
		return row
	case n.Status == tree.Failed:
		row.fate = p.steps.failed(n.Step, n.Err, n.Took)
	case n.Status == tree.Running:
		row.fate = wordsFor(n.Doing).running + " (interrupted)"
	case n.Step.Op == stages.OpSame && !p.steps.shows(n.Step):
		row.mark = "  " // it is drawn only for its descendants
		return row
	default:
		row.fate = p.outcome(n, n.Step, n.Took)
	}
	p.sign(n.Step.Op)
	return row
}

// sign records the kind of a step whose sign is in a row.
func (p treePrinter) sign(op stages.Op) {
	if p.signs != nil {
		p.signs[op] = true
	}
}

// isAborted reports whether an operation on a resource was aborted on the request of the user.
func (p treePrinter) isAborted(n *tree.Node) bool { return p.steps.aborts && n.Status == tree.Failed }

// outcome describes the actual or planned change of a resource by a step. It mentions the old object of a replacement that is still
// there.
func (p treePrinter) outcome(n *tree.Node, s stages.StepInfo, took time.Duration) string {
	if !p.steps.IsPreview && n.Outcome() == stages.OpCreateReplacement {
		return p.steps.fateAs(wordsFor(s.Op).done+" (the old one is still there)", s, took)
	}
	return p.steps.fate(s, took)
}

func nodeNames(g []*tree.Node) []string {
	names := make([]string, len(g))
	for i, n := range g {
		names[i] = n.URN.Name()
	}
	return names
}

// pattern returns the common pattern of names: "r*", "web-*-eu".
func pattern(names []string) string {
	before, after, shortest := names[0], names[0], len(names[0])
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, before) {
			before = before[:len(before)-1]
		}
		for !strings.HasSuffix(name, after) {
			after = after[1:]
		}
		shortest = min(shortest, len(name))
	}
	after = after[max(len(before)+len(after)-shortest, 0):]
	return cleanLine(strings.ToValidUTF8(before, "") + "*" + strings.ToValidUTF8(after, ""))
}
