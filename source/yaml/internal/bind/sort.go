package bind

import (
	"strings"

	"github.com/sluice-iac/sluice/graph"
)

// sorted returns the nodes, each after its needs, otherwise in the order of the file. It reports a cycle.
func (b *binder) sorted(nodes []*Node) []*Node {
	number := make(map[*Node]graph.ID, len(nodes))
	for i, n := range nodes {
		number[n] = graph.ID(i)
	}
	order, cycle := graph.PostOrder(len(nodes), func(id graph.ID, visit func(graph.ID)) {
		for _, need := range nodes[id].Needs {
			visit(number[need])
		}
	})
	if cycle != nil {
		n := nodes[cycle[0]]
		_ = b.report.Fail(n.At, "", "the %s %q depends on itself: %s", n.kind, n.Name,
			CycleText(cycle, func(id graph.ID) string { return nodes[id].Name }))
		return nodes
	}
	sorted := make([]*Node, len(order))
	for i, id := range order {
		sorted[i] = nodes[id]
	}
	return sorted
}

// CycleText shows a cycle as the path from its first member back to it.
func CycleText(cycle []graph.ID, name func(graph.ID) string) string {
	var names []string
	for _, id := range append(cycle, cycle[0]) {
		names = append(names, name(id))
	}
	return strings.Join(names, " -> ")
}
