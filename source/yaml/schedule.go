package yaml

import (
	"context"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
)

// inOrder calls a function for every node once it has returned for all needs of the node. Calls for independent nodes run in parallel. The
// error is a panic of the function.
func inOrder(ctx context.Context, nodes []*bind.Node, evaluate func(*bind.Node)) error {
	number := make(map[*bind.Node]graph.ID, len(nodes))
	for i, n := range nodes {
		number[n] = graph.ID(i)
	}
	var ready graph.ReadySet
	for i, n := range nodes {
		needs := make([]graph.ID, len(n.Needs))
		for j, need := range n.Needs {
			needs[j] = number[need]
		}
		ready.Add(graph.ID(i), needs...)
	}
	// After the end of the run the function is still called, but evaluates nothing.
	return ready.Run(context.WithoutCancel(ctx), func(_ context.Context, id graph.ID) error {
		evaluate(nodes[id])
		return nil
	})
}
