package rooms

import (
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Base is the recorded state that a run starts from, indexed. It never changes.
type Base struct {
	Resources []*state.Resource
	Olds      map[urn.URN]*state.Resource   // those not awaiting deletion
	All       map[urn.URN][]*state.Resource // every copy
	Graph     *graph.Graph                  // its nodes are positions in Resources
	Providers map[string]*state.Resource    // by reference
	Attached  map[urn.URN][]graph.ID        // resources that are replaced or deleted with a URN, in base order
	OldCopies []*state.Resource             // those awaiting deletion, apart from views, in base order
	Pending   []state.Pending               // the operations of earlier runs that are not resolved

	ids       map[*state.Resource]graph.ID
	expanding sync.Once // guards expanded
	expanded  *graph.Graph
}

// NewBase indexes states, which are in the order of a snapshot.
func NewBase(resources []*state.Resource) *Base {
	return newBaseOf(resources, func(_ *state.Resource, u urn.URN) urn.URN { return u })
}

// newBaseOf is NewBase for states that may use different names for one resource. The graph uses the names that the function name
// returns for the references of each state.
func newBaseOf(resources []*state.Resource, name func(of *state.Resource, u urn.URN) urn.URN) *Base {
	b := &Base{
		Resources: resources,
		Olds:      make(map[urn.URN]*state.Resource, len(resources)),
		All:       make(map[urn.URN][]*state.Resource, len(resources)),
		ids:       make(map[*state.Resource]graph.ID, len(resources)),
		Providers: map[string]*state.Resource{},
		Attached:  map[urn.URN][]graph.ID{},
	}
	var build graph.Builder
	build.AddNodes(len(resources))
	at := make(map[urn.URN][]graph.ID, len(resources))
	for i, res := range resources {
		id := graph.ID(i)
		for ref := range res.References() {
			// Only earlier entries count, and every one with that URN does (steps.md 5.3).
			for _, dep := range at[name(res, ref.URN)] {
				build.AddEdge(id, dep, ref.Kind)
			}
		}
		u := name(res, res.URN)
		at[u] = append(at[u], id)
		b.All[res.URN] = append(b.All[res.URN], res)
		b.ids[res] = id
		switch {
		case !res.Delete:
			b.Olds[res.URN] = res
		case res.ViewOf == "":
			b.OldCopies = append(b.OldCopies, res)
		}
		if res.Type.IsProvider() {
			b.Providers[urn.ProviderRef{URN: res.URN, ID: res.ID}.String()] = res
		}
		for _, u := range urn.SortedSet(append([]urn.URN{res.DeletedWith}, res.ReplaceWith...)) {
			b.Attached[u] = append(b.Attached[u], id)
		}
	}
	b.Graph = build.Graph()
	return b
}

// ID returns the position of a state in the base, and false for a state that is not in it. Only ID maps a state to its position;
// data about recorded states is kept by position.
func (b *Base) ID(res *state.Resource) (graph.ID, bool) {
	id, ok := b.ids[res]
	return id, ok
}

// StandIn returns the old copy that stands in for the resource of a name, nil if there is none or the resource exists. References
// to the name are to that copy until a registration of the name is done. If there are several, it is the first.
func (b *Base) StandIn(u urn.URN) *state.Resource {
	if copies := b.All[u]; b.Olds[u] == nil && len(copies) > 0 {
		return copies[0]
	}
	return nil
}

// WithinComponents is the graph in which dependents of a component also depend on the children that the component had before them
// (steps.md 5.3).
func (b *Base) WithinComponents() *graph.Graph {
	b.expanding.Do(func() {
		b.expanded = b.Graph.ExpandComponents(graph.Components{
			IsComponent: func(id graph.ID) bool { return !b.Resources[id].Custom },
		})
	})
	return b.expanded
}

// hasObject reports whether the object of a resource is recorded under its URN.
func (b *Base) hasObject(res *state.Resource) bool {
	return res.ID != "" && slices.ContainsFunc(b.All[res.URN], func(r *state.Resource) bool { return r.ID == res.ID })
}

// OldCopiesOf returns the recorded old copies of an object that an import with this state names, in base order.
func (b *Base) OldCopiesOf(imported *state.Resource) []*state.Resource {
	var out []*state.Resource
	for _, old := range b.OldCopies {
		if IsObjectOf(old, imported) {
			out = append(out, old)
		}
	}
	return out
}
