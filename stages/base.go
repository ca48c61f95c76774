package stages

import (
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// base is the recorded state that a run starts from, indexed. It never changes.
type base struct {
	resources []*state.Resource
	olds      map[urn.URN]*state.Resource   // those not awaiting deletion
	all       map[urn.URN][]*state.Resource // every copy
	ids       map[*state.Resource]graph.ID  // positions in resources, and nodes of graph
	graph     *graph.Graph
	providers map[string]*state.Resource    // by reference
	attached  map[urn.URN][]*state.Resource // what is replaced or deleted with a URN, in base order

	expanding sync.Once // guards expanded
	expanded  *graph.Graph
}

func newBase(resources []*state.Resource) *base {
	return newBaseOf(resources, func(_ *state.Resource, u urn.URN) urn.URN { return u })
}

// newBaseOf is newBase for states that may use different names for one resource: the graph is that of the names that name
// returns for those that a state uses.
func newBaseOf(resources []*state.Resource, name func(of *state.Resource, u urn.URN) urn.URN) *base {
	b := &base{
		resources: resources,
		olds:      make(map[urn.URN]*state.Resource, len(resources)),
		all:       make(map[urn.URN][]*state.Resource, len(resources)),
		ids:       make(map[*state.Resource]graph.ID, len(resources)),
		providers: map[string]*state.Resource{},
		attached:  map[urn.URN][]*state.Resource{},
	}
	var build graph.Builder
	build.AddNodes(len(resources))
	at := make(map[urn.URN][]graph.ID, len(resources))
	for i, res := range resources {
		id := graph.ID(i)
		references(res, func(u urn.URN, kind graph.Kind) {
			// Only earlier entries count, and every one with that URN does (steps.md 5.3).
			for _, dep := range at[name(res, u)] {
				build.AddEdge(id, dep, kind)
			}
		})
		u := name(res, res.URN)
		at[u] = append(at[u], id)
		b.all[res.URN] = append(b.all[res.URN], res)
		b.ids[res] = id
		if !res.Delete {
			b.olds[res.URN] = res
		}
		if res.Type.IsProvider() {
			b.providers[urn.ProviderRef{URN: res.URN, ID: res.ID}.String()] = res
		}
		for _, u := range sortedSet(append([]urn.URN{res.DeletedWith}, res.ReplaceWith...)) {
			b.attached[u] = append(b.attached[u], res)
		}
	}
	b.graph = build.Graph()
	return b
}

// withinComponents is the graph in which what depends on a component also depends on the children that the component had by
// then (steps.md 5.3).
func (b *base) withinComponents() *graph.Graph {
	b.expanding.Do(func() {
		b.expanded = b.graph.ExpandComponents(graph.Components{
			IsComponent: func(id graph.ID) bool { return !b.resources[id].Custom },
		})
	})
	return b.expanded
}

// references calls f for everything that a state refers to: "all dependencies" of steps.md 0.1.
func references(r *state.Resource, f func(urn.URN, graph.Kind)) {
	if ref, err := urn.ParseProviderRef(r.Provider); err == nil {
		f(ref.URN, graph.Provider)
	}
	if r.Parent != "" {
		f(r.Parent, graph.Parent)
	}
	for _, d := range r.Dependencies {
		f(d, graph.Dependency)
	}
	for _, ds := range r.PropertyDependencies {
		for _, d := range ds {
			f(d, graph.PropertyDependency)
		}
	}
	if r.DeletedWith != "" {
		f(r.DeletedWith, graph.DeletedWith)
	}
	for _, d := range r.ReplaceWith {
		f(d, graph.ReplaceWith)
	}
}
