package standard

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/admit"
	"github.com/sluice-iac/sluice/stages/internal/book"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/urn"
)

// analyst asks the analyzers.
type analyst struct {
	*control.Control
	*book.Book
	families  *admit.Families
	analyzers []stages.Analyzer
	limit     int    // how many analyzers judge at once; 0 is all
	directory string // relative paths of assets are resolved against it
}

// stage returns the stage that asks the analyzers (steps.md 11). For each registration it runs first every analyzer's
// remediations, one after the other, then all analyses at once. Reads pass through. A mandatory violation stops an
// update; a preview continues and fails at its end.
func (r *analyst) stage() pipeline.Stage[stages.Checked, stages.Analyzed] {
	workers := access.MinReadWorkers
	if len(r.analyzers) == 0 {
		workers = 1 // everything passes through
	}
	return pipeline.Stage[stages.Checked, stages.Analyzed]{
		Name:    "analyze",
		Workers: workers,
		Buffer:  access.MinReadWorkers,
		Run: func(ctx context.Context, c stages.Checked, emit pipeline.Emit[stages.Analyzed]) error {
			a := stages.Analyzed{Checked: c}
			if len(r.analyzers) > 0 && c.Goal != nil && c.Course != stages.ImportFailed && !c.Course.IsBypassed() && c.Violation == nil && c.Unknown == nil {
				var err error
				if a, err = r.analyze(ctx, a); err != nil {
					return err
				}
			}
			return emit(a)
		},
	}
}

func (r *analyst) analyze(ctx context.Context, a stages.Analyzed) (stages.Analyzed, error) {
	inputs, err := r.remediate(ctx, a, r.Emit)
	if err != nil {
		return a, err
	}
	a.Remediated = !property.EqualMaps(a.Inputs, inputs)
	a.Inputs = inputs
	analysis := r.analysis(a)
	analysis.Properties = analysis.Properties.WithoutInternal()
	found, err := r.askAll(func(an stages.Analyzer) (stages.Findings, error) { return an.Analyze(ctx, analysis) })
	if err != nil {
		return a, r.bailAnalysis(a.Located, fmt.Errorf("failed to run policy: %w", err))
	}
	var broken []string
	for i, an := range r.analyzers {
		violations, mandatory := enforced(found[i])
		for _, v := range violations {
			r.violate(a.URN, an, v)
		}
		a.Violations = append(a.Violations, violations...)
		broken = append(broken, mandatory...)
		r.Emit(summarize(stages.AfterAnalyze, a.URN, an.Info(), failedIn(found[i]), found[i].NotApplicable))
	}
	if len(broken) == 0 {
		return a, nil
	}
	broke := &stages.ViolationError{URN: a.URN, Policies: broken}
	if r.DryRun() {
		r.Fail(a.Seq, a.URN, stages.CodeShown, broke)
		return a, nil
	}
	return a, r.Bail(a.Located, stages.CodeShown, broke)
}

// remediate lets the analyzers rewrite the inputs, one after the other, and returns the result. It reports what they
// rewrote and which remediations failed.
func (r *analyst) remediate(ctx context.Context, a stages.Analyzed, report func(stages.Event)) (property.Map, error) {
	for _, an := range r.analyzers {
		info := an.Info()
		answer, err := an.Remediate(ctx, r.analysis(a))
		if err != nil {
			return a.Inputs, r.bailAnalysis(a.Located, fmt.Errorf("%s: failed to run remediation: %w", info.Name, err))
		}
		var touched []string
		for _, rem := range answer.Remediations {
			touched = append(touched, rem.Policy)
			switch {
			case rem.Diagnostic != "":
				report(violationEvent(a.URN, info, stages.Violation{Policy: rem.Policy, Message: rem.Diagnostic, Level: stages.Advisory}))
			case rem.Properties != nil:
				after, err := property.HashAssets(ctx, *rem.Properties, r.directory)
				if err != nil {
					return a.Inputs, r.bailAnalysis(a.Located, fmt.Errorf("%s: failed to run remediation: %s: %w", info.Name, rem.Policy, err))
				}
				report(stages.PolicyRemediation{Policy: policyOf(info, rem.Policy), URN: a.URN, Before: a.Inputs, After: after})
				a.Inputs = after
			}
		}
		report(summarize(stages.AfterRemediate, a.URN, info, touched, answer.NotApplicable))
	}
	return a.Inputs, nil
}

// askAll asks all analyzers at once, or as many as the run allows, and returns their answers in the analyzers' order. Its
// error joins the errors of the analyzers that could not answer, in that order too.
func (r *analyst) askAll(ask func(stages.Analyzer) (stages.Findings, error)) ([]stages.Findings, error) {
	found := make([]stages.Findings, len(r.analyzers))
	errs := make([]error, len(r.analyzers))
	p := pool.New()
	if r.limit > 0 {
		p = p.WithMaxGoroutines(r.limit)
	}
	for i, an := range r.analyzers {
		p.Go(func() {
			var err error
			if found[i], err = ask(an); err != nil {
				errs[i] = fmt.Errorf("%s: %w", an.Info().Name, err)
			}
		})
	}
	p.Wait()
	return found, errors.Join(errs...)
}

// analysis describes a registration with its inputs as they are.
func (r *analyst) analysis(a stages.Analyzed) stages.Analysis {
	g := a.Goal
	out := stages.Analysis{URN: a.URN, Type: g.Type, Name: g.Name, Properties: a.Inputs, Options: stages.AnalysisOptions{
		Protect: g.IsProtected(), IgnoreChanges: g.IgnoreChanges, DeleteBeforeReplace: g.DeleteBeforeReplace,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, CustomTimeouts: g.CustomTimeouts, Parent: g.Parent,
	}}
	if a.Alias != "" {
		out.Options.Aliases = []urn.URN{a.Alias}
	}
	out.Provider, _ = r.ProviderState(g.Provider)
	return out
}

// violate reports a violation by a resource.
func (r *analyst) violate(at urn.URN, an stages.Analyzer, v stages.Violation) {
	r.Emit(violationEvent(at, an.Info(), v))
}

// bailAnalysis is like Bail, for an analyzer that could not answer. That an analyzer has ended is reported once, and not
// for a resource.
func (r *analyst) bailAnalysis(l stages.Located, err error) error {
	var lost *stages.AnalyzerLostError
	if !errors.As(err, &lost) {
		return r.Bail(l, stages.CodeFailed, err)
	}
	if !r.Failed.Once(lost.Analyzer) {
		r.Halt()
		return &stages.ReportedError{Err: err}
	}
	return r.Bail(stages.Located{}, stages.CodeFailed, lost)
}
