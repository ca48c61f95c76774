package bind

import (
	"slices"
	"strings"
)

// sorted returns the nodes in an order in which each comes after what it needs, else in that of the file, and tells each what
// depends on it. It reports the first cycle.
func (b *binder) sorted(nodes []*Node) []*Node {
	s := &sorter{states: make(map[*Node]sortState, len(nodes))}
	for _, n := range nodes {
		if cycle := s.visit(n); cycle != nil {
			first := cycle[0]
			_ = b.report.Fail(first.At, "", "the %s %q depends on itself: %s", first.kind, first.Name, path(cycle))
			return nodes
		}
	}
	for _, n := range s.sorted {
		for _, need := range n.Needs {
			need.Dependents = append(need.Dependents, n)
		}
	}
	return s.sorted
}

type sortState int

const (
	isNew sortState = iota
	isOpen
	isDone
)

type sorter struct {
	states map[*Node]sortState
	open   []*Node // from the node that was visited first to what it needs
	sorted []*Node
}

// visit adds a node after what it needs. It returns a cycle that it meets, from a node to the same node, or nil.
func (s *sorter) visit(n *Node) (cycle []*Node) {
	switch s.states[n] {
	case isDone:
		return nil
	case isOpen:
		return append(slices.Clone(s.open[slices.Index(s.open, n):]), n)
	}
	s.states[n] = isOpen
	s.open = append(s.open, n)
	for _, need := range n.Needs {
		if cycle := s.visit(need); cycle != nil {
			return cycle
		}
	}
	s.open = s.open[:len(s.open)-1]
	s.states[n] = isDone
	s.sorted = append(s.sorted, n)
	return nil
}

// path shows the names along a cycle.
func path(cycle []*Node) string {
	var names []string
	for _, n := range cycle {
		names = append(names, n.Name)
	}
	return strings.Join(names, " -> ")
}
