package sweep

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/admit"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Plan is [Run.PlanImports].
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

// All is [Run.ImportAll].
func (run *ImportRun) All(ctx context.Context, plan *ImportPlan) error {
	if err := run.startRecorded(ctx); err != nil {
		return err
	}
	return run.Executor.TakeBatch(stages.Built{Located: stages.Located{Seq: stages.EndPhaseSeq}, Tasks: run.importTasks(plan), KeepsGoing: true}, execute.ToEnd)
}

// importTasks makes the tasks of an import: first everything that is recorded stays, in its order, then the root stack is made
// if it has to be, then the items, each after its parent and its provider.
func (run *ImportRun) importTasks(plan *ImportPlan) []stages.Task {
	var tasks []stages.Task
	var gate []graph.ID
	first := func(steps ...*stages.Decision) {
		if len(steps) > 0 {
			t := stages.Task{ID: run.Book.Tasks.New(1), Steps: steps, After: gate}
			tasks, gate = append(tasks, t), []graph.ID{t.ID}
		}
	}
	first(run.keptSteps()...)
	if plan.makeRoot {
		first(run.rootStep(plan.root))
	}
	base := run.Book.Tasks.New(len(plan.order))
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

// startRecorded starts the recorded providers, all at once, as they are where a program still declares them.
func (run *ImportRun) startRecorded(ctx context.Context) error {
	started := make([]error, len(run.Book.Base.Resources))
	starting := pool.New().WithMaxGoroutines(run.Access.ReadWorkers())
	for i, res := range run.Book.Base.Resources {
		if res.Type.IsProvider() && !res.Delete {
			starting.Go(func() {
				started[i] = run.Access.Registry.Same(ctx, urn.ProviderRef{URN: res.URN, ID: res.ID}, res.Inputs)
			})
		}
	}
	starting.Wait()
	for i, err := range started {
		if err != nil {
			return run.Control.Bail(stages.Located{URN: run.Book.Base.Resources[i].URN}, stages.CodeFailed, err)
		}
	}
	return nil
}

// keptSteps leave everything that is recorded as it is.
func (run *ImportRun) keptSteps() []*stages.Decision {
	var steps []*stages.Decision
	for i, res := range run.Book.Base.Resources {
		if res.Delete {
			continue
		}
		s := stages.CarriedForwardStep(res)
		s.Place, s.Reason = i, stages.Reason{Kind: stages.ReasonUnchanged}
		steps = append(steps, s)
	}
	return steps
}

// rootStep makes the root stack. It gets no outputs, as there is no program to say which.
func (run *ImportRun) rootStep(root urn.URN) *stages.Decision {
	return &stages.Decision{Rank: stages.Rank{Seq: 1}, StepInfo: stages.StepInfo{
		Op: stages.OpCreate, URN: root, Type: root.Type(), New: &state.Resource{URN: root, Type: root.Type()}, Reason: stages.Reason{Kind: stages.ReasonImportCommand},
	}}
}

// importStep is the step of an item.
func (run *ImportRun) importStep(p *plannedImport) *stages.Decision {
	fresh := p.fresh()
	d := &stages.Decision{Rank: stages.Rank{Seq: p.seq}, Resolves: stages.ResolvedBy(run.Book.InterruptedCreates.ByURN[p.urn]), StepInfo: stages.StepInfo{
		Op: stages.OpImport, URN: p.urn, Type: fresh.Type, New: fresh, Reason: stages.Reason{Kind: stages.ReasonImportCommand},
	}}
	if fresh.Type.IsProvider() {
		d.Op, d.Internal = stages.OpCreate, p.urn.IsDefaultProvider()
		return d
	}
	d.Import = &stages.ImportOrder{ImportRequest: p.ImportRequest, Provider: p.provider, Seed: p.seed}
	return d
}

// checkProviders has the providers that are to be made check their configuration, all at once, before anything is made.
func (run *ImportRun) checkProviders(ctx context.Context, plan *ImportPlan) error {
	errs := make([]error, len(plan.items))
	results := make([]providers.CheckResponse, len(plan.items))
	calls := pool.New().WithMaxGoroutines(run.Access.ReadWorkers())
	for i, p := range plan.items {
		if !p.urn.Type().IsProvider() {
			continue
		}
		calls.Go(func() {
			results[i], errs[i] = run.Access.Registry.Check(ctx, providers.CheckRequest{
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

// ImportRun takes existing objects under management without a program.
type ImportRun struct {
	Control       *control.Control
	Book          *book.Book
	Access        *access.Access
	Defaults      *admit.DefaultProviders
	Executor      *execute.Executor
	Entropy       []byte
	PackageConfig func(pkg string) property.Map
}
