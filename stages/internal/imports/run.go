package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/stages/internal/requests"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc/pool"
)

// ImportRun takes existing objects under management without a program.
type ImportRun struct {
	Control       *control.Control
	Rooms         *rooms.Rooms
	Access        *access.Access
	Defaults      *requests.DefaultProviders
	Scheduler     *execute.Scheduler
	Entropy       []byte
	PackageConfig func(pkg string) property.Map
}

// Plan plans an import, and checks the new providers. It creates and records nothing.
func (run *ImportRun) Plan(ctx context.Context, requests []stages.ImportRequest) (*ImportPlan, error) {
	plan, err := run.planImports(requests)
	if err != nil {
		return nil, err
	}
	if plan.order, err = plan.schedule(); err != nil {
		return nil, err
	}
	return plan, run.checkProviders(ctx, plan)
}

// planImports decides which resources and providers an import makes. It calls no provider.
func (run *ImportRun) planImports(requests []stages.ImportRequest) (*ImportPlan, error) {
	plan := &ImportPlan{root: urn.RootStack(run.Control.Info.Stack, run.Control.Info.Project), makeRoot: len(requests) > 0}
	for _, res := range run.Rooms.Base.Resources {
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

// isImported reports whether the object is in the base already.
func (run *ImportRun) isImported(u urn.URN, id string) bool {
	old := run.Rooms.Base.Olds[u]
	return old != nil && cmp.Or(old.ImportID, old.ID) == id
}

// planProviders decides which providers have to be made, and enters the URN of each request's provider into used. Default providers
// come in the order of their names, explicit ones in that of their URNs. A provider's own request takes precedence over the
// requests that use it.
func (run *ImportRun) planProviders(root urn.URN, requests []stages.ImportRequest, used []urn.URN) (defaults, explicit []*plannedImport, err error) {
	planned := map[urn.URN]*plannedImport{}
	for _, q := range requests {
		u := q.Under(root)
		if !q.Type.IsProvider() || run.Rooms.Base.Olds[u] != nil {
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
			if run.Rooms.Base.Olds[u] == nil && planned[u] == nil {
				planned[u] = &plannedImport{urn: u, spec: q.Package.Spec(u.Type().ProviderPackage()), config: q.ProviderInputs}
			}
			continue
		}
		p, err := run.defaultFor(q)
		if err != nil {
			return nil, nil, err
		}
		used[i] = p.urn
		if run.Rooms.Base.Olds[p.urn] == nil && planned[p.urn] == nil {
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
	name, err := requests.DefaultName(spec)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", q.Name, err)
	}
	return &plannedImport{
		urn: urn.New(run.Control.Info.Stack, run.Control.Info.Project, "", urn.ProviderType(pkg), name), spec: spec, config: run.PackageConfig(pkg),
	}, nil
}

// checkProviders calls CheckConfig of the new providers, all at once, before anything is made.
func (run *ImportRun) checkProviders(ctx context.Context, plan *ImportPlan) error {
	errs := make([]error, len(plan.items))
	results := make([]providers.CheckResponse, len(plan.items))
	calls := pool.New().WithMaxGoroutines(run.Access.ReadWorkers())
	for i, p := range plan.items {
		if !p.urn.Type().IsProvider() {
			continue
		}
		calls.Go(func() {
			results[i], errs[i] = run.Access.Registry.Resources().Check(ctx, providers.CheckRequest{
				URN: p.urn, Name: p.urn.Name(), Type: p.urn.Type(), News: p.spec.Inputs(p.config), AllowUnknowns: run.Control.DryRun(),
			})
		})
	}
	calls.Wait()
	for i, p := range plan.items {
		if !p.urn.Type().IsProvider() {
			continue
		}
		if errs[i] = run.providerFault(p, results[i], errs[i]); errs[i] == nil {
			p.config = results[i].Inputs
		}
	}
	return errors.Join(errs...)
}

// providerFault returns why a provider cannot be made, nil if it can.
func (run *ImportRun) providerFault(p *plannedImport, res providers.CheckResponse, err error) error {
	byDefault := p.urn.IsDefaultProvider()
	for _, f := range res.Failures {
		code, text := compare.CheckFailure(p.urn, p.spec.Inputs(p.config), f)
		run.Control.Diagnose(p.urn, stages.Error, code, text)
	}
	switch {
	case err != nil && byDefault:
		return fmt.Errorf("failed to validate provider config: %w", err)
	case err != nil:
		return fmt.Errorf("failed to validate explicit provider config for %s: %w", p.urn, err)
	case len(res.Failures) == 0:
		return nil
	case byDefault:
		return errors.New("provider check failed")
	}
	return fmt.Errorf("explicit provider check failed for %s", p.urn)
}

// All executes the plan of an import.
func (run *ImportRun) All(ctx context.Context, plan *ImportPlan) error {
	if err := run.startRecorded(ctx); err != nil {
		return err
	}
	return run.Scheduler.RunBatch(stages.Built{Located: stages.Located{Seq: stages.EndPhaseSeq}, Tasks: run.importTasks(plan), KeepsGoing: true}, execute.ToEnd)
}

// importTasks makes the tasks of an import: first all recorded states stay, in their order, then the root stack is made if it does
// not exist, then the items, each after its parent and its provider.
func (run *ImportRun) importTasks(plan *ImportPlan) []stages.Task {
	var tasks []stages.Task
	var gate []graph.ID
	first := func(steps ...*stages.Decision) {
		if len(steps) > 0 {
			t := stages.Task{ID: run.Rooms.Tasks.New(1), Steps: steps, After: gate}
			tasks, gate = append(tasks, t), []graph.ID{t.ID}
		}
	}
	first(run.keptSteps()...)
	if plan.makeRoot {
		first(run.rootStep(plan.root))
	}
	base := run.Rooms.Tasks.New(len(plan.order))
	for i, entry := range plan.order {
		t := closure.TaskOf(entry, base, graph.ID(i))
		if len(t.After) == 0 {
			t.After = gate
		}
		if !entry.Relay {
			t.Steps = []*stages.Decision{run.importStep(plan.items[entry.Node])}
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// startRecorded starts the recorded providers with their recorded inputs, all at once.
func (run *ImportRun) startRecorded(ctx context.Context) error {
	started := make([]error, len(run.Rooms.Base.Resources))
	starting := pool.New().WithMaxGoroutines(run.Access.ReadWorkers())
	for i, res := range run.Rooms.Base.Resources {
		if res.Type.IsProvider() && !res.Delete {
			starting.Go(func() {
				started[i] = run.Access.Registry.Same(ctx, urn.ProviderRef{URN: res.URN, ID: res.ID}, res.Inputs)
			})
		}
	}
	starting.Wait()
	for i, err := range started {
		if err != nil {
			return run.Control.Bail(stages.Located{URN: run.Rooms.Base.Resources[i].URN}, stages.CodeFailed, err)
		}
	}
	return nil
}

// keptSteps returns the steps that leave all recorded states as they are.
func (run *ImportRun) keptSteps() []*stages.Decision {
	var steps []*stages.Decision
	for i, res := range run.Rooms.Base.Resources {
		if res.Delete {
			continue
		}
		s := stages.CarriedForwardStep(res)
		s.Place, s.Reason = i, stages.Reason{Kind: stages.ReasonUnchanged}
		steps = append(steps, s)
	}
	return steps
}

// rootStep makes the root stack. It gets no outputs, as no program runs.
func (run *ImportRun) rootStep(root urn.URN) *stages.Decision {
	return &stages.Decision{Rank: stages.Rank{Seq: 1}, StepInfo: stages.StepInfo{
		Op: stages.OpCreate, URN: root, Type: root.Type(), New: &state.Resource{URN: root, Type: root.Type()}, Reason: stages.Reason{Kind: stages.ReasonImportCommand},
	}}
}

// importStep is the step of an item.
func (run *ImportRun) importStep(p *plannedImport) *stages.Decision {
	fresh := p.fresh()
	d := &stages.Decision{Rank: stages.Rank{Seq: p.seq}, Resolves: stages.ResolvedBy(run.Rooms.InterruptedCreates.ByURN[p.urn]), StepInfo: stages.StepInfo{
		Op: stages.OpImport, URN: p.urn, Type: fresh.Type, New: fresh, Reason: stages.Reason{Kind: stages.ReasonImportCommand},
	}}
	if fresh.Type.IsProvider() {
		d.Op, d.Internal = stages.OpCreate, p.urn.IsDefaultProvider()
		return d
	}
	d.Import = &stages.ImportOrder{ImportRequest: p.ImportRequest, Provider: p.provider, Seed: p.seed}
	return d
}
