package closure

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ShowWaves reports the waves of deletes in a preview (steps.md 5.3); other runs go by edges and need none. g is the graph that
// orders the deletes. root is the replaced resource, "" at the end of the run; own is its delete, empty if it has none.
func ShowWaves(c *control.Control, g *graph.Graph, deletes map[graph.ID]*stages.Decision, root urn.URN, own []*stages.Decision) error {
	if !c.DryRun() {
		return nil
	}
	waves, err := wavesOf(g, deletes)
	if err != nil || len(waves) == 0 {
		return err
	}
	for _, s := range own {
		waves = append(waves, []urn.URN{s.URN})
	}
	c.Emit(stages.DeletionWaves{Root: root, Waves: waves})
	return nil
}

// wavesOf lists the deletes by waves, the first wave first, and in a wave by URN: the base of a destroy that runs its program is in
// the order in which registrations have arrived. Removals from the state without a delete are left out.
func wavesOf(g *graph.Graph, deletes map[graph.ID]*stages.Decision) ([][]urn.URN, error) {
	isNoDelete := func(id graph.ID) bool {
		op := deletes[id].Op
		return op != stages.OpDelete && op != stages.OpDeleteReplaced
	}
	layers, err := g.Antichains(slices.DeleteFunc(slices.Collect(maps.Keys(deletes)), isNoDelete), DeletesFirst.Scope)
	if err != nil {
		return nil, err // a cycle: a valid base has none
	}
	waves := make([][]urn.URN, len(layers))
	for i, layer := range layers {
		waves[i] = make([]urn.URN, len(layer))
		for j, id := range layer {
			waves[i][j] = deletes[id].URN
		}
		slices.Sort(waves[i])
	}
	return waves, nil
}

// DestroyWaves returns the states that a destroy of everything would delete, in the waves in which they can be deleted
// (steps.md 5.3), each in the order of the snapshot, which is that of resources. No wave has external states or those that await
// their replacement, which a destroy only removes from the state, or views, which are deleted with their resources.
func DestroyWaves(resources []*state.Resource) ([][]*state.Resource, error) {
	var ids []graph.ID
	for i, res := range resources {
		if !res.External && !res.PendingReplacement && res.ViewOf == "" {
			ids = append(ids, graph.ID(i))
		}
	}
	layers, err := rooms.NewBase(resources).WithinComponents().Antichains(ids, DeletesFirst.Scope)
	if err != nil {
		return nil, err
	}
	waves := make([][]*state.Resource, len(layers))
	for i, layer := range layers {
		for _, id := range layer {
			waves[i] = append(waves[i], resources[id])
		}
	}
	return waves, nil
}
