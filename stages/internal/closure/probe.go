package closure

import (
	"context"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Probe is the question whether a recorded resource would have to be replaced if some of its inputs changed.
type Probe struct {
	Root   int // number of the root's registration
	ID     graph.ID
	Old    *state.Resource
	inputs property.Map
	Cause  urn.URN
}

// CallProbe calls the provider. Errors belong to the root. A provider that an earlier registration continues has the configuration
// of that registration; otherwise it has the recorded one.
func (pr *Prober) CallProbe(ctx context.Context, p *Probe) (providers.DiffResponse, error) {
	if claimant, ok := pr.Rooms.Names.Claimant(pr.Rooms.Base.Providers[p.Old.Provider]); ok && claimant < p.Root {
		if err := pr.Rooms.Progress.Await(ctx, claimant, rooms.Over); err != nil {
			return providers.DiffResponse{}, err
		}
	}
	prov, err := pr.Access.ProviderAt(ctx, p.Old, p.Root)
	if err != nil {
		return providers.DiffResponse{}, err
	}
	d, err := pr.Access.CallDiff(ctx, prov, p.Old.URN, p.Old, p.inputs, true, p.Old.IgnoreChanges)
	if err != nil {
		return d, err
	}
	_, err = compare.ReplaceOnChanges(&d, p.Old.ReplaceOnChanges, false)
	return d, err
}

// Prober calls providers to find out whether dependents could stay without the resources that they use.
type Prober struct {
	Rooms  *rooms.Rooms
	Access *access.Access
}
