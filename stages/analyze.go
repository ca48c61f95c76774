package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Analyze is the stage that asks the analyzers (steps.md 11): for each registration first every analyzer's
// remediations, one after the other, then all analyses at once. Reads pass through. A mandatory violation stops an
// update; a preview goes on and fails at its end.
func Analyze(r *Run) pipeline.Stage[Checked, Analyzed] {
	workers := readWorkers
	if len(r.Analyzers) == 0 {
		workers = 1 // everything passes through
	}
	return pipeline.Stage[Checked, Analyzed]{
		Name:    "analyze",
		Workers: workers,
		Buffer:  readWorkers,
		Run: func(ctx context.Context, c Checked, emit pipeline.Emit[Analyzed]) error {
			a := Analyzed{Checked: c}
			if len(r.Analyzers) > 0 && c.Goal != nil && !c.answered && c.violation == nil {
				var err error
				if a, err = r.analyze(ctx, a); err != nil {
					return err
				}
			}
			return emit(a)
		},
	}
}

func (r *Run) analyze(ctx context.Context, a Analyzed) (Analyzed, error) {
	inputs, err := r.remediate(ctx, a, func(an Analyzer, v Violation) { r.violate(a.Located, an, v) })
	if err != nil {
		return a, err
	}
	a.remediated = !property.EqualMaps(a.Inputs, inputs)
	a.Inputs = inputs
	found, err := r.runAnalyzers(ctx, a)
	if err != nil {
		return a, r.bail(a.Located, codeFailed, err)
	}
	var broken []string
	for i, an := range r.Analyzers {
		for _, v := range found[i] {
			if v.Level == Disabled {
				continue
			}
			r.violate(a.Located, an, v)
			a.Violations = append(a.Violations, v)
			if v.Level != Advisory {
				broken = append(broken, v.Policy)
			}
		}
	}
	if len(broken) == 0 {
		return a, nil
	}
	broke := fmt.Errorf("resource %s is invalid: it violates %s", a.URN, strings.Join(broken, ", "))
	if r.DryRun() {
		r.failures.add(Failure{Seq: a.Seq, URN: a.URN, Err: broke})
		return a, nil
	}
	return a, r.bailQuietly(a.Located, broke)
}

// remediate lets the analyzers rewrite the inputs, one after the other, and returns the result. It reports what they could
// not rewrite.
func (r *Run) remediate(ctx context.Context, a Analyzed, report func(Analyzer, Violation)) (property.Map, error) {
	for _, an := range r.Analyzers {
		rems, err := an.Remediate(ctx, r.analysis(a))
		if err != nil {
			return a.Inputs, r.bail(a.Located, codeFailed, fmt.Errorf("%s: failed to run remediation: %w", an.Name(), err))
		}
		for _, rem := range rems {
			switch {
			case rem.Diagnostic != "":
				report(an, Violation{Policy: rem.Policy, Message: rem.Diagnostic, Level: Advisory})
			case rem.Properties != nil:
				a.Inputs = *rem.Properties
			}
		}
	}
	return a.Inputs, nil
}

// runAnalyzers asks all analyzers at once and returns their answers in the analyzers' order.
func (r *Run) runAnalyzers(ctx context.Context, a Analyzed) ([][]Violation, error) {
	found := make([][]Violation, len(r.Analyzers))
	errs := make([]error, len(r.Analyzers))
	analysis := r.analysis(a)
	var wg conc.WaitGroup
	for i, an := range r.Analyzers {
		wg.Go(func() {
			var err error
			if found[i], err = an.Analyze(ctx, analysis); err != nil {
				errs[i] = fmt.Errorf("%s: failed to run policy: %w", an.Name(), err)
			}
		})
	}
	wg.Wait()
	return found, errors.Join(errs...)
}

func (r *Run) analysis(a Analyzed) Analysis {
	out := Analysis{URN: a.URN, Type: a.Goal.Type, Name: a.Goal.Name, Properties: a.Inputs.WithoutInternal(), Goal: a.Goal}
	if ref, err := urn.ParseProviderRef(a.Goal.Provider); err == nil {
		out.Provider = &ProviderState{URN: ref.URN, Type: ref.URN.Type(), Name: ref.URN.Name()}
		if s, ok := r.world.lookup(ref.URN); ok {
			out.Provider.Properties = s.Inputs
		} else if s := r.base.providers[ref.String()]; s != nil {
			out.Provider.Properties = s.Inputs
		}
	}
	return out
}

func (r *Run) violate(l Located, an Analyzer, v Violation) {
	at := v.URN
	if at == "" {
		at = l.URN
	}
	severity := Warning
	if v.Level != Advisory {
		severity = Error
	}
	r.diagnose(at, severity, 0, fmt.Sprintf("[%s] %s: %s", an.Name(), v.Policy, v.Message))
}
