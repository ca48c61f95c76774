package imports

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ImportPlan is the plan of an import. It serves one run.
type ImportPlan struct {
	root     urn.URN
	makeRoot bool
	items    []*plannedImport  // in the order of their numbers: providers first
	order    []graph.Scheduled // by position in items
}

// schedule orders the items: each waits for its parent and its provider.
func (p *ImportPlan) schedule() ([]graph.Scheduled, error) {
	var b graph.Builder
	b.AddNodes(len(p.items))
	ids := make([]graph.ID, len(p.items))
	at := make(map[urn.URN]graph.ID, len(p.items))
	for i, item := range p.items {
		ids[i], at[item.urn] = graph.ID(i), graph.ID(i)
	}
	for i, item := range p.items {
		if to, ok := at[item.parent]; ok {
			b.AddEdge(graph.ID(i), to, graph.Parent)
		}
		if to, ok := at[item.provider]; ok {
			b.AddEdge(graph.ID(i), to, graph.Provider)
		}
	}
	return b.Graph().Schedule(ids, graph.Schedule{Direction: graph.DependenciesFirst})
}

// plannedImport is a resource or a provider that an import makes. It does not change once the steps run.
type plannedImport struct {
	stages.ImportRequest
	urn      urn.URN
	parent   urn.URN
	provider urn.URN // of the provider resource, "" for none
	seq      int
	seed     []byte
	// extension is the reference of the extension that the provider needs before the resource, "" for none.
	extension string
	// spec and config are those of a provider; config is complete once the provider has checked it.
	spec   providers.Spec
	config property.Map
}

// fresh returns the state of an item before its step.
func (p *plannedImport) fresh() *state.Resource {
	s := &state.Resource{
		URN: p.urn, Type: p.urn.Type(), Custom: !p.Component, Inputs: p.Inputs, Parent: p.parent, Protect: p.Protect, ImportID: p.ID,
		ExtensionRef: p.extension,
	}
	if s.Type.IsProvider() {
		s.Inputs = p.config
	}
	return s
}
