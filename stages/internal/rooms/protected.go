package rooms

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ProtectedAndNeeded returns the names of protected resources and of everything that they depend on, their providers and parents
// included, sorted: those that a destroy must leave to keep the protected ones (steps.md 6.1). resources are in the order of a
// snapshot.
func ProtectedAndNeeded(resources []*state.Resource) []urn.URN {
	b := NewBase(resources)
	var ids []graph.ID
	for i, res := range resources {
		if res.Protect {
			ids = append(ids, graph.ID(i))
		}
	}
	ids = append(ids, b.Graph.TransitiveDependencies(ids, graph.Reach{})...)
	urns := make([]urn.URN, len(ids))
	for i, id := range ids {
		urns[i] = resources[id].URN
	}
	slices.Sort(urns)
	return slices.Compact(urns)
}
