package graph_test

import (
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
	// 0: machine bucket
	// 1: subnet
	// 2: network
	// 3: cloud
}

func ExampleGraph_TransitiveDependents() {
	fmt.Println(infrastructure().TransitiveDependents([]graph.ID{1}, graph.Reach{Kinds: graph.NotParent}))
	// Output: [2 3]
}

func ExampleClosure() {
	// The network is deleted before it is replaced. Only resources with a property from a deleted resource must go too.
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

func ExampleReadySet() {
	deletes, err := infrastructure().Schedule([]graph.ID{0, 1, 2, 3, 4}, graph.Schedule{
		Direction: graph.DependentsFirst,
		Scope:     graph.Scope{ThroughOthers: true},
	})
	if err != nil {
		panic(err)
	}
	var ready graph.ReadySet
	for position, d := range deletes {
		ready.Add(graph.ID(position), d.After...)
	}
	for position, ok := ready.Next(); ok; position, ok = ready.Next() {
		who := name(deletes[position].Node)
		if who != "subnet" {
			fmt.Println("deleted", who)
			ready.Finish(position)
			continue
		}
		fmt.Println("could not delete", who)
		for _, kept := range ready.Fail(position) {
			fmt.Println("kept", name(deletes[kept].Node))
		}
	}
	// Output:
	// deleted bucket
	// deleted machine
	// could not delete subnet
	// kept network
	// kept cloud
}
