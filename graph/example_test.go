package graph_test

import (
	"context"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/graph"
)

var names = []string{"cloud", "network", "subnet", "machine", "bucket"}

func name(id graph.ID) string { return names[id] }

// infrastructure has a provider that everything uses, and a machine in a subnet of a network.
func infrastructure() *graph.Graph {
	g := &graph.Graph{}
	cloud := g.AddNode()
	uses := graph.Edge{ID: cloud, Kind: graph.Provider}
	network := g.AddNode(uses)
	subnet := g.AddNode(uses, graph.Edge{ID: network, Kind: graph.PropertyDependency})
	g.AddLabel(subnet, network, "networkId")
	g.AddNode(uses, graph.Edge{ID: subnet, Kind: graph.Dependency})
	g.AddNode(uses)
	return g
}

func ExampleGraph_Text() {
	_ = infrastructure().Text(os.Stdout, name)
	// Output:
	// 0 cloud
	// 1 network
	//   provider 0 cloud
	// 2 subnet
	//   provider 0 cloud
	//   property(networkId) 1 network
	// 3 machine
	//   provider 0 cloud
	//   dependency 2 subnet
	// 4 bucket
	//   provider 0 cloud
}

func ExampleGraph_Antichains() {
	layers, err := infrastructure().Antichains([]graph.ID{0, 1, 2, 3, 4}, graph.Scope{})
	if err != nil {
		panic(err)
	}
	fmt.Print(graph.LayersText(layers, name))
	// Output:
	// 0: machine
	// 1: subnet
	// 2: network bucket
	// 3: cloud
}

func ExampleGraph_TransitiveDependents() {
	fmt.Println(infrastructure().TransitiveDependents([]graph.ID{1}, graph.Reach{Kinds: graph.NotParent}))
	// Output: [2 3]
}

func ExampleClosure() {
	// The network is deleted before it is replaced. Only what has a property from a deleted resource must go too.
	g := infrastructure()
	closure := graph.NewClosure(g, 1, graph.NotParent, nil)
	for !closure.Done() {
		for _, id := range closure.Ready() {
			needs := false
			for _, e := range g.Dependencies(id) {
				needs = needs || e.Kind&graph.PropertyDependency != 0 && closure.InSet(e.ID)
			}
			fmt.Println(name(id), needs)
			closure.Answer(id, needs)
		}
	}
	fmt.Println(closure.Members())
	// Output:
	// subnet true
	// machine false
	// [2]
}

func ExampleReadySet_Run() {
	deletes, err := graph.NewReadySet(infrastructure(), []graph.ID{0, 1, 2, 3, 4}, graph.Schedule{
		Direction: graph.DependentsFirst,
		Scope:     graph.Scope{ThroughOthers: true},
	})
	if err != nil {
		panic(err)
	}
	err = deletes.Run(context.Background(), 1, func(_ context.Context, id graph.ID) error {
		if name(id) == "subnet" {
			return fmt.Errorf("%s is protected", name(id))
		}
		fmt.Println("deleted", name(id))
		return nil
	})
	fmt.Println(err)
	fmt.Println("kept", deletes.Failed(), "and what it needs", deletes.Skipped())
	// Output:
	// deleted bucket
	// deleted machine
	// node 2: subnet is protected
	// kept [2] and what it needs [0 1]
}
