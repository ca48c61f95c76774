package rooms

import (
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
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

// IsProtected reports whether a replacement must be refused. The protection that the program declares counts, so that a resource
// can be unprotected and replaced in one update (steps.md 3.9), and is safe from the update that protects it (decision 0166). A
// read declares no protection, so the recorded one counts. If the old object is gone, only a recorded protection counts.
func IsProtected(rooms *Rooms, l stages.Located, gone bool) bool {
	protects := l.Old.Protect
	if l.Goal != nil {
		protects = l.Goal.IsProtected()
	}
	return protects && (l.Old.Protect || !gone) && !rooms.IgnoreProtect
}
