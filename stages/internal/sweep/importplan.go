package sweep

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/admit"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// plannedImport is one thing that an import makes: a resource or a provider. None of it changes once the steps run.
type plannedImport struct {
	stages.ImportRequest
	urn      urn.URN
	parent   urn.URN
	provider urn.URN // of the provider resource, "" for none
	seq      int
	seed     []byte
	// extension is the reference of the extension that its provider needs first, "" for none.
	extension string
	// spec and config are those of a provider; config is complete once the provider has checked it.
	spec   providers.Spec
	config property.Map
}

// ImportPlan is what an import makes. It serves one run.
type ImportPlan struct {
	root     urn.URN
	makeRoot bool
	items    []*plannedImport  // in the order of their numbers: providers first
	order    []graph.Scheduled // by position in items
}

// planImports decides what an import has to make. It calls no provider.
func (run *ImportRun) planImports(requests []stages.ImportRequest) (*ImportPlan, error) {
	plan := &ImportPlan{root: urn.RootStack(run.Control.Info.Stack, run.Control.Info.Project), makeRoot: len(requests) > 0}
	for _, res := range run.Book.Base.Resources {
		if res.Type == urn.RootStackType && res.Parent == "" && !res.Delete {
			plan.root, plan.makeRoot = res.URN, false
			break
		}
	}
	used := make([]urn.URN, len(requests))
	defaults, explicit, err := run.planProviders(plan.root, requests, used)
	if err != nil {
		return nil, err
	}
	plan.items = append(defaults, explicit...)
	for i, q := range requests {
		u := q.Under(plan.root)
		if q.Type.IsProvider() || run.isImported(u, q.ID) {
			continue
		}
		p := &plannedImport{ImportRequest: q, urn: u, parent: cmp.Or(q.Parent, plan.root), provider: used[i]}
		p.seed = stages.Derive(run.Entropy, string(u), "seed")
		if x := q.Package.Extension; x != nil {
			p.extension = run.Access.Extensions.Register(*x)
		}
		plan.items = append(plan.items, p)
	}
	for i, p := range plan.items {
		p.seq = i + 2 // 1 is the root stack
	}
	return plan, nil
}

// isImported reports whether the base has the object already.
func (run *ImportRun) isImported(u urn.URN, id string) bool {
	old := run.Book.Base.Olds[u]
	return old != nil && cmp.Or(old.ImportID, old.ID) == id
}

// planProviders decides which providers have to be made, and enters the URN of each request's provider into used. Default
// providers come in the order of their names, explicit ones in that of their URNs; a provider's own request wins over what
// those who use it say about it.
func (run *ImportRun) planProviders(root urn.URN, requests []stages.ImportRequest, used []urn.URN) (defaults, explicit []*plannedImport, err error) {
	planned := map[urn.URN]*plannedImport{}
	for _, q := range requests {
		u := q.Under(root)
		if !q.Type.IsProvider() || run.Book.Base.Olds[u] != nil {
			continue
		}
		spec, err := q.ProviderSpec()
		if err != nil {
			return nil, nil, fmt.Errorf("import %s: %w", q.Name, err)
		}
		planned[u] = &plannedImport{ImportRequest: q, urn: u, parent: q.Parent, spec: spec, config: q.Inputs}
	}
	for i, q := range requests {
		if !q.UsesProvider() {
			continue
		}
		if u := q.Provider; u != "" {
			if u.Stack() != run.Control.Info.Stack || u.Project() != run.Control.Info.Project {
				return nil, nil, fmt.Errorf("import %s: the provider %s belongs to another stack", q.Name, u)
			}
			used[i] = u
			if run.Book.Base.Olds[u] == nil && planned[u] == nil {
				planned[u] = &plannedImport{urn: u, spec: q.Package.Spec(u.Type().ProviderPackage()), config: q.ProviderInputs}
			}
			continue
		}
		p, err := run.defaultFor(q)
		if err != nil {
			return nil, nil, err
		}
		used[i] = p.urn
		if run.Book.Base.Olds[p.urn] == nil && planned[p.urn] == nil {
			planned[p.urn] = p
			defaults = append(defaults, p)
		}
	}
	for _, p := range planned {
		if !slices.Contains(defaults, p) {
			explicit = append(explicit, p)
		}
	}
	byURN := func(a, b *plannedImport) int { return cmp.Compare(a.urn, b.urn) }
	slices.SortFunc(defaults, byURN)
	slices.SortFunc(explicit, byURN)
	return defaults, explicit, nil
}

// defaultFor describes the default provider that a request uses.
func (run *ImportRun) defaultFor(q stages.ImportRequest) (*plannedImport, error) {
	pkg := q.Type.Package()
	if q.Package.Extension != nil && q.Package.Name != "" {
		pkg = q.Package.Name
	}
	if run.Defaults.IsDenied(pkg) {
		return nil, fmt.Errorf(access.DeniedText, pkg, q.Name)
	}
	spec := run.Defaults.Normalize(pkg, q.Package).Spec(pkg)
	name, err := admit.DefaultName(spec)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", q.Name, err)
	}
	return &plannedImport{
		urn: urn.New(run.Control.Info.Stack, run.Control.Info.Project, "", urn.ProviderType(pkg), name), spec: spec, config: run.PackageConfig(pkg),
	}, nil
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

// fresh is the state that an item begins with.
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
