package rows

import (
	"cmp"
	"slices"
	"strings"

	"github.com/maruel/natural"

	branch "github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Row is a resource at its place in the tree.
type Row struct {
	*state.Resource
	// Lead is the prefix of the resource in a drawing: lines from its parent and to its siblings. Below is the prefix of
	// more lines about the same resource.
	Lead, Below string
}

// Of returns the rows of resources, from the top down. Children of one parent are sorted by type, then by name in natural
// order.
func Of(resources []*state.Resource) []Row {
	t := &tree{below: map[urn.URN][]*state.Resource{}, rows: make([]Row, 0, len(resources)), placed: make(map[*state.Resource]bool, len(resources))}
	known := make(map[urn.URN]bool, len(resources))
	for _, r := range resources {
		known[r.URN] = true
	}
	var roots []*state.Resource
	for _, r := range resources {
		if r.Parent == "" || !known[r.Parent] {
			roots = append(roots, r)
		} else {
			t.below[r.Parent] = append(t.below[r.Parent], r)
		}
	}
	slices.SortStableFunc(roots, inOrder)
	for _, r := range roots {
		t.place(r, "", "")
	}
	for _, r := range resources { // the rest are cycles of parents
		if !t.placed[r] {
			t.place(r, "", "")
		}
	}
	return t.rows
}

type tree struct {
	below  map[urn.URN][]*state.Resource // the children of a URN without a row so far
	rows   []Row
	placed map[*state.Resource]bool
}

// place adds the rows of a resource and its descendants. An old copy has the URN of its successor: the first of both has
// the children.
func (t *tree) place(r *state.Resource, lead, below string) {
	t.placed[r] = true
	children := t.below[r.URN]
	delete(t.below, r.URN)
	children = slices.DeleteFunc(children, func(c *state.Resource) bool { return t.placed[c] })
	slices.SortStableFunc(children, inOrder)
	_, more := branch.Branch(below, len(children) == 0)
	t.rows = append(t.rows, Row{Resource: r, Lead: lead, Below: more})
	for i, c := range children {
		here, under := branch.Branch(below, i == len(children)-1)
		t.place(c, here, under)
	}
}

// inOrder puts the stack first, and an old copy behind its successor.
func inOrder(a, b *state.Resource) int {
	if a.URN.IsRootStack() != b.URN.IsRootStack() {
		return trueFirst(a.URN.IsRootStack())
	}
	if by := strings.Compare(string(a.Type), string(b.Type)); by != 0 {
		return by
	}
	if x, y := a.URN.Name(), b.URN.Name(); x != y {
		return cmp.Or(natural.Compare(x, y), strings.Compare(x, y))
	}
	if a.Delete != b.Delete {
		return trueFirst(b.Delete)
	}
	return strings.Compare(a.ID, b.ID)
}

func trueFirst(first bool) int {
	if first {
		return -1
	}
	return 1
}
