package closure

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Waves collects the deletes of the delete-before-replaces of a preview. It reports their waves at the end: a resource that several of
// these replacements delete belongs to the first of them ([rooms.ClosureDelete]), which is known only then. Only the build stage adds to
// it.
type Waves struct {
	Control *control.Control
	Rooms   *rooms.Rooms

	replacements []replacement
}

// replacement has the deletes of one delete-before-replace.
type replacement struct {
	root    urn.URN
	deletes map[graph.ID]*stages.Decision
	own     []*stages.Decision // the delete of the root, empty if it has none
}

// Add adds a replacement, its deletes, and the delete of the replaced resource if there is one. Runs other than previews go by edges and
// need no waves.
func (w *Waves) Add(root urn.URN, deletes map[graph.ID]*stages.Decision, own []*stages.Decision) {
	if w.Control.DryRun() {
		w.replacements = append(w.replacements, replacement{root, deletes, own})
	}
}

// Show reports the waves of all replacements, in the order of their names, once. It is called when no more is decided.
func (w *Waves) Show() error {
	all := w.replacements
	w.replacements = nil
	slices.SortFunc(all, func(a, b replacement) int { return cmp.Compare(a.root, b.root) })
	at := make(map[urn.URN]int, len(all))
	of := make([]map[graph.ID]*stages.Decision, len(all))
	for i, r := range all {
		at[r.root], of[i] = i, map[graph.ID]*stages.Decision{}
	}
	for i, r := range all {
		for id, d := range r.deletes {
			first, known := at[w.Rooms.Decisions.ClosureOf(id)]
			if !known {
				first = i
			}
			of[first][id] = d
		}
	}
	for i, r := range all {
		waves, err := wavesOf(w.Rooms.Base.WithinComponents(), of[i])
		if err != nil {
			return err
		}
		if len(waves) == 0 {
			continue
		}
		for _, s := range r.own {
			waves = append(waves, []urn.URN{s.URN})
		}
		w.Control.Emit(stages.DeletionWaves{Root: r.root, Waves: waves})
	}
	return nil
}

// ShowWaves reports the waves of the deletes at the end of a preview (steps.md 5.3). g is the graph that orders them.
func ShowWaves(c *control.Control, g *graph.Graph, deletes map[graph.ID]*stages.Decision) error {
	if !c.DryRun() {
		return nil
	}
	waves, err := wavesOf(g, deletes)
	if err != nil || len(waves) == 0 {
		return err
	}
	c.Emit(stages.DeletionWaves{Waves: waves})
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
