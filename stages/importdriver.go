package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// PlanImports decides what an import has to make, and has the providers that it makes check their configurations. Nothing
// is made or recorded yet, so that what cannot be done at all changes nothing. The requests have passed [CheckImports].
func (r *Run) PlanImports(ctx context.Context, requests []ImportRequest) (*ImportPlan, error) {
	plan, err := r.planImports(requests)
	if err != nil {
		return nil, err
	}
	if plan.order, err = plan.schedule(); err != nil {
		return nil, err
	}
	return plan, r.checkProviders(ctx, plan)
}

// ImportAll takes existing objects under management without a program (steps.md 4.4). What is recorded stays as it is. A
// failed import keeps those below it from being made and nothing else; all failures are recorded. It is called once, after
// [Run.PlanImports].
func (r *Run) ImportAll(ctx context.Context, plan *ImportPlan) error {
	if err := r.startRecorded(ctx); err != nil {
		return err
	}
	return r.takeBatch(Built{Located: Located{Seq: AfterAll}, Tasks: r.importTasks(plan), keepsGoing: true})
}

// importTasks makes the tasks of an import: everything that is recorded is passed over, in its order, then the root stack is
// made if it has to be, then the items, each after its parent and its provider.
func (r *Run) importTasks(plan *ImportPlan) []Task {
	var tasks []Task
	var gate []graph.ID
	first := func(steps ...*Decision) {
		if len(steps) > 0 {
			t := Task{ID: r.outcomes.newTasks(1), Steps: steps, After: gate}
			tasks, gate = append(tasks, t), []graph.ID{t.ID}
		}
	}
	first(r.keptSteps()...)
	if plan.makeRoot {
		first(r.rootStep(plan.root))
	}
	base := r.outcomes.newTasks(len(plan.order))
	for i, entry := range plan.order {
		t := taskOf(entry, base, graph.ID(i))
		if len(t.After) == 0 {
			t.After = gate
		}
		if !entry.Relay {
			t.Steps = []*Decision{r.importStep(plan.items[entry.Node])}
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// startRecorded starts the recorded providers, all at once, as they are where a program still declares them.
func (r *Run) startRecorded(ctx context.Context) error {
	started := make([]error, len(r.base.resources))
	starting := pool.New().WithMaxGoroutines(readWorkers)
	for i, res := range r.base.resources {
		if res.Type.IsProvider() && !res.Delete {
			starting.Go(func() {
				started[i] = r.Registry.Same(ctx, urn.ProviderRef{URN: res.URN, ID: res.ID}, res.Inputs)
			})
		}
	}
	starting.Wait()
	for i, err := range started {
		if err != nil {
			return r.bail(Located{URN: r.base.resources[i].URN}, codeFailed, err)
		}
	}
	return nil
}

// keptSteps leave everything that is recorded as it is.
func (r *Run) keptSteps() []*Decision {
	var steps []*Decision
	for i, res := range r.base.resources {
		if res.Delete {
			continue
		}
		s := carriedStep(res)
		s.Place, s.Reason = i, Reason{Kind: ReasonUnchanged}
		steps = append(steps, s)
	}
	return steps
}

// rootStep makes the root stack. It gets no outputs, as there is no program to say which.
func (r *Run) rootStep(root urn.URN) *Decision {
	return &Decision{Rank: Rank{Seq: 1}, StepInfo: StepInfo{
		Op: OpCreate, URN: root, Type: root.Type(), New: &state.Resource{URN: root, Type: root.Type()}, Reason: Reason{Kind: ReasonImportCommand},
	}}
}

// importStep is the step of an item.
func (r *Run) importStep(p *plannedImport) *Decision {
	fresh := p.fresh()
	d := &Decision{Rank: Rank{Seq: p.seq}, Settles: r.interruptions.byURN[p.urn].name(), StepInfo: StepInfo{
		Op: OpImport, URN: p.urn, Type: fresh.Type, New: fresh, Reason: Reason{Kind: ReasonImportCommand},
	}}
	if fresh.Type.IsProvider() {
		d.Op, d.Internal = OpCreate, p.urn.IsDefaultProvider()
		return d
	}
	d.Import = &ImportOrder{ImportRequest: p.ImportRequest, Provider: p.provider, Seed: p.seed}
	return d
}

// withProvider completes the step of an import by the reference of its provider, which may have been made by this import.
func (r *Run) withProvider(d *Decision) *Decision {
	if d.Import == nil || d.Import.Provider == "" {
		return d
	}
	maker, ok := r.world.lookup(d.Import.Provider)
	if !ok {
		return d
	}
	known := *d
	known.New = d.New.Clone()
	known.New.Provider = urn.ProviderRef{URN: maker.URN, ID: maker.ID}.String()
	known.Provider = known.New.Provider
	return &known
}

// checkProviders has the providers that are to be made check their configuration, all at once, before anything is made.
func (r *Run) checkProviders(ctx context.Context, plan *ImportPlan) error {
	errs := make([]error, len(plan.items))
	results := make([]providers.CheckResponse, len(plan.items))
	calls := pool.New().WithMaxGoroutines(readWorkers)
	for i, p := range plan.items {
		if !p.urn.Type().IsProvider() {
			continue
		}
		calls.Go(func() {
			results[i], errs[i] = r.Registry.Check(ctx, providers.CheckRequest{
				URN: p.urn, Name: p.urn.Name(), Type: p.urn.Type(), News: p.spec.Inputs(p.config), AllowUnknowns: r.DryRun(),
			})
		})
	}
	calls.Wait()
	for i, p := range plan.items {
		if !p.urn.Type().IsProvider() {
			continue
		}
		if errs[i] = r.providerFault(p, results[i], errs[i]); errs[i] == nil {
			p.config = results[i].Inputs
		}
	}
	return errors.Join(errs...)
}

// providerFault says in what way a provider cannot be made, nil if it can.
func (r *Run) providerFault(p *plannedImport, res providers.CheckResponse, err error) error {
	byDefault := p.urn.IsDefaultProvider()
	for _, f := range res.Failures {
		code, text := checkFailure(p.urn, p.spec.Inputs(p.config), f)
		r.diagnose(p.urn, Error, code, text)
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

// applyPlannedImport records an object as the import command found it (steps.md 4.4 "Planned import step").
func (r *Run) applyPlannedImport(s *taking) applied {
	q, final := s.Import, s.New.Clone()
	if r.base.olds[s.URN] != nil {
		return failed(fmt.Errorf("resource '%v' already exists", s.URN))
	}
	if _, ok := r.world.lookup(final.Parent); !ok {
		return failed(fmt.Errorf("unknown parent '%v' for resource '%v'", final.Parent, s.URN))
	}
	now := r.Now().UTC()
	final.Created, final.Modified = now, now
	switch {
	case q.Outputs.Len() > 0:
		final.Outputs = q.Outputs
		if final.Custom {
			final.ID = q.ID
		}
	case final.Custom:
		res, err := r.readForImport(s, final)
		if err != nil {
			return failed(err)
		}
		final.Inputs = withSupplied(res.Inputs, q.Inputs)
	}
	// The declaration that people will write says nothing of an import.
	final.ImportID = ""
	if !final.Custom {
		return applied{final: final}
	}
	found := final.Inputs
	final.Inputs = onlyProperties(found, q.Properties)
	if err := r.checkImported(s, final, found); err != nil {
		return failed(err)
	}
	return applied{final: final}
}

// withSupplied completes what a provider reports with what somebody says about it: the provider is right, except about what
// it does not tell; what was given as a secret stays one.
func withSupplied(found, supplied property.Map) property.Map {
	for name, v := range supplied.All() {
		have, ok := found.Get(name)
		switch {
		case !ok || have.IsNull():
			found = found.With(name, v)
		case v.IsSecret() && !have.IsSecret():
			found = found.With(name, property.Secret(have))
		}
	}
	return found
}

// onlyProperties keeps the named inputs; no names keep all.
func onlyProperties(inputs property.Map, names []string) property.Map {
	if len(names) == 0 {
		return inputs
	}
	kept := map[string]property.Value{}
	for _, name := range names {
		if v, ok := inputs.Get(name); ok {
			kept[name] = v
		}
	}
	return property.NewMap(kept)
}

// checkImported has the provider check the inputs that are recorded. What it refuses is a warning: the object exists.
func (r *Run) checkImported(s *taking, final *state.Resource, found property.Map) error {
	p, err := r.providerFor(r.operations, final)
	if err != nil {
		return err
	}
	res, err := p.Check(r.operations, providers.CheckRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, Olds: found, News: final.Inputs, AllowUnknowns: r.DryRun(), RandomSeed: s.Import.Seed,
	})
	if err != nil || len(res.Failures) == 0 {
		return err
	}
	advice := "Try specifying a different set of properties to import with in the future."
	if len(s.Import.Properties) == 0 {
		advice = fmt.Sprintf("This is almost certainly a bug in the `%s` provider.", providerPackage(final))
	}
	r.warn(s.URN, "One or more imported inputs failed to validate. %s The import will still proceed, but you will need to edit the "+
		"generated code after copying it into your program.", advice)
	for _, f := range res.Failures {
		code, text := checkFailure(s.URN, final.Inputs, f)
		r.diagnose(s.URN, Warning, code, text)
	}
	return nil
}

// providerPackage names the package of a state's provider.
func providerPackage(s *state.Resource) string {
	ref, err := urn.ParseProviderRef(s.Provider)
	if err != nil {
		return strings.TrimSpace(s.Type.Package())
	}
	return ref.Package()
}
