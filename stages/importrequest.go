package stages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ImportRequest names one object that is to be taken under management without a program (steps.md 4.4).
type ImportRequest struct {
	Type urn.Type
	Name string
	ID   string // the provider's; none for a component and for a provider, which is made and not read
	// Parent is the URN of the parent, "" for the root stack. It is recorded already or imported by the same run.
	Parent urn.URN
	// Provider is the URN of an explicit provider, "" for the default one of the package. One that is neither recorded nor
	// imported is made from ProviderInputs.
	Provider       urn.URN
	ProviderInputs property.Map
	// Package says which plugin the provider needs; what is not given comes from what the program uses.
	Package Package
	// Properties are the inputs to record; none means all that the provider reports.
	Properties []string
	// Inputs are used where the provider reports none: for what can be written and not read. For a provider they are its
	// configuration. Outputs, if there are any, are trusted together with Inputs, and the object is not read.
	Inputs, Outputs property.Map
	Protect         bool
	// Component is true for a component, which is made and not read. Remote says that it belongs to a package.
	Component, Remote bool
}

// usesProvider tells whether the imported resource has a provider.
func (q ImportRequest) usesProvider() bool {
	return !q.Type.IsProvider() && (!q.Component || q.Remote)
}

// CheckImports finds what is wrong with the requests themselves (steps.md 4.4 "Pre-checks"): everything at once, before
// anything is done.
func CheckImports(stack, project string, requests []ImportRequest) error {
	var errs []error
	seen := map[urn.URN]bool{}
	root := urn.RootStack(stack, project)
	for _, q := range requests {
		if err := q.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		u := q.urn(root)
		if seen[u] {
			errs = append(errs, fmt.Errorf("duplicate import '%v' of type '%v'", q.Name, q.Type))
		}
		seen[u] = true
	}
	if len(requests) == 0 {
		errs = append(errs, errors.New("there is nothing to import"))
	}
	return errors.Join(errs...)
}

// URN is what the resource will be called in a stack.
func (q ImportRequest) URN(stack, project string) urn.URN {
	return q.urn(urn.RootStack(stack, project))
}

func (q ImportRequest) urn(root urn.URN) urn.URN {
	return cmp.Or(q.Parent, root).Child(q.Type, q.Name)
}

func (q ImportRequest) check() error {
	switch {
	case q.Name == "":
		return fmt.Errorf("an import of type %q has no name", q.Type)
	case q.Component && q.ID != "":
		return fmt.Errorf("import %s cannot specify an ID as it's a component", q.Name)
	case (q.usesProvider() || q.Type.IsProvider()) && !q.Type.IsToken(), q.Type == "":
		return fmt.Errorf("import type %q is not a valid resource type token. Type tokens must be of the format <package>:<module>:<type> - "+
			"refer to the import section of the provider resource documentation.", q.Type)
	case q.Type.IsProvider() && q.ID != "":
		return fmt.Errorf("import %s cannot specify an ID as it's a provider, which is created rather than read", q.Name)
	case q.usesProvider() && !q.Component && q.ID == "":
		return fmt.Errorf("import %s of type %q has no ID", q.Name, q.Type)
	case q.Parent != "" && !q.Parent.IsValid():
		return fmt.Errorf("import %s: the parent %q is not a URN", q.Name, q.Parent)
	case q.Provider != "" && !q.Provider.Type().IsProvider():
		return fmt.Errorf("imported provider URN %q is not a provider type", q.Provider)
	case q.Package.Extension != nil && q.Package.Parameterization != nil:
		return fmt.Errorf("import %s has both a parameterization and an extension, which are mutually exclusive", q.Name)
	}
	return nil
}

// plannedImport is one thing that an import makes: a resource or a provider. None of it changes once the steps run.
type plannedImport struct {
	ImportRequest
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

// planImports decides what an import has to make. It calls nobody.
func (r *Run) planImports(requests []ImportRequest) (*ImportPlan, error) {
	plan := &ImportPlan{root: urn.RootStack(r.Info.Stack, r.Info.Project), makeRoot: true}
	for _, res := range r.base.resources {
		if res.Type == urn.RootStackType && res.Parent == "" && !res.Delete {
			plan.root, plan.makeRoot = res.URN, false
			break
		}
	}
	used := make([]urn.URN, len(requests))
	defaults, explicit, err := r.planProviders(plan.root, requests, used)
	if err != nil {
		return nil, err
	}
	plan.items = append(defaults, explicit...)
	for i, q := range requests {
		u := q.urn(plan.root)
		if q.Type.IsProvider() || r.isImported(u, q.ID) {
			continue
		}
		p := &plannedImport{ImportRequest: q, urn: u, parent: cmp.Or(q.Parent, plan.root), provider: used[i]}
		p.seed = derive(r.Entropy, string(u), "seed")
		if x := q.Package.Extension; x != nil {
			p.extension = r.extensions.register(*x)
		}
		plan.items = append(plan.items, p)
	}
	for i, p := range plan.items {
		p.seq = i + 2 // 1 is the root stack
	}
	return plan, nil
}

// isImported tells whether the base has the object already.
func (r *Run) isImported(u urn.URN, id string) bool {
	old := r.base.olds[u]
	return old != nil && cmp.Or(old.ImportID, old.ID) == id
}

// planProviders decides which providers have to be made, and enters the URN of each request's provider into used. Default
// providers come in the order of their names, explicit ones in that of their URNs; a provider's own request wins over what
// those who use it say about it.
func (r *Run) planProviders(root urn.URN, requests []ImportRequest, used []urn.URN) (defaults, explicit []*plannedImport, err error) {
	planned := map[urn.URN]*plannedImport{}
	for _, q := range requests {
		u := q.urn(root)
		if !q.Type.IsProvider() || r.base.olds[u] != nil {
			continue
		}
		spec, err := q.providerSpec()
		if err != nil {
			return nil, nil, fmt.Errorf("import %s: %w", q.Name, err)
		}
		planned[u] = &plannedImport{ImportRequest: q, urn: u, parent: q.Parent, spec: spec, config: q.Inputs}
	}
	for i, q := range requests {
		if !q.usesProvider() {
			continue
		}
		if u := q.Provider; u != "" {
			if u.Stack() != r.Info.Stack || u.Project() != r.Info.Project {
				return nil, nil, fmt.Errorf("import %s: the provider %s belongs to another stack", q.Name, u)
			}
			used[i] = u
			if r.base.olds[u] == nil && planned[u] == nil {
				planned[u] = &plannedImport{urn: u, spec: q.Package.spec(u.Type().ProviderPackage()), config: q.ProviderInputs}
			}
			continue
		}
		p, err := r.defaultFor(q)
		if err != nil {
			return nil, nil, err
		}
		used[i] = p.urn
		if r.base.olds[p.urn] == nil && planned[p.urn] == nil {
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

// providerSpec says how to start the provider that a request declares: what the request does not say about the plugin, the
// inputs of the provider may.
func (q ImportRequest) providerSpec() (providers.Spec, error) {
	spec, err := providers.SpecFromInputs(q.Type, q.Inputs)
	if err != nil {
		return spec, err
	}
	given := q.Package.spec(spec.Package)
	if given.Parameterization != nil || spec.Parameterization == nil && given.Version != "" {
		spec.Version, spec.Parameterization = given.Version, given.Parameterization
	}
	spec.DownloadURL = cmp.Or(given.DownloadURL, spec.DownloadURL)
	if given.Checksums != nil {
		spec.Checksums = given.Checksums
	}
	return spec, nil
}

// defaultFor describes the default provider that a request uses.
func (r *Run) defaultFor(q ImportRequest) (*plannedImport, error) {
	pkg := q.Type.Package()
	if q.Package.Extension != nil && q.Package.Name != "" {
		pkg = q.Package.Name
	}
	if r.defaults.isDenied(pkg) {
		return nil, fmt.Errorf(deniedText, pkg, q.Name)
	}
	spec := r.defaults.normalize(pkg, q.Package).spec(pkg)
	name, err := defaultName(spec)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", q.Name, err)
	}
	return &plannedImport{
		urn: urn.New(r.Info.Stack, r.Info.Project, "", urn.ProviderType(pkg), name), spec: spec, config: r.PackageConfig(pkg),
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
