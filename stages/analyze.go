package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Analyze is the stage that asks the analyzers (steps.md 11): for each registration first every analyzer's
// remediations, one after the other, then all analyses at once. Reads pass through. A mandatory violation stops an
// update; a preview goes on and fails at its end.
func Analyze(run *Run) pipeline.Stage[Checked, Analyzed] {
	r := run.analyst
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
			if len(r.Analyzers) > 0 && c.Goal != nil && !c.answered && !c.passive && c.violation == nil {
				var err error
				if a, err = r.analyze(ctx, a); err != nil {
					return err
				}
			}
			return emit(a)
		},
	}
}

func (r *analyst) analyze(ctx context.Context, a Analyzed) (Analyzed, error) {
	inputs, err := r.remediate(ctx, a, r.Emit)
	if err != nil {
		return a, err
	}
	a.remediated = !property.EqualMaps(a.Inputs, inputs)
	a.Inputs = inputs
	analysis := r.analysis(a)
	analysis.Properties = analysis.Properties.WithoutInternal()
	found, err := r.askAll(func(an Analyzer) (Findings, error) { return an.Analyze(ctx, analysis) })
	if err != nil {
		return a, r.bailAnalysis(a.Located, fmt.Errorf("failed to run policy: %w", err))
	}
	var broken []string
	for i, an := range r.Analyzers {
		violations, mandatory := enforced(found[i])
		for _, v := range violations {
			r.violate(a.URN, an, v)
		}
		a.Violations = append(a.Violations, violations...)
		broken = append(broken, mandatory...)
		r.Emit(summarize(AfterAnalyze, a.URN, an.Info(), failedIn(found[i]), found[i].NotApplicable))
	}
	if len(broken) == 0 {
		return a, nil
	}
	broke := &ViolationError{URN: a.URN, Policies: broken}
	if r.DryRun() {
		r.failures.add(Failure{Seq: a.Seq, URN: a.URN, Err: broke})
		return a, nil
	}
	return a, r.bailQuietly(a.Located, broke)
}

// enforced returns the violations that count, with the levels that they have in effect (steps.md 11.3), and the names of
// the mandatory policies among them.
func enforced(f Findings) (violations []Violation, mandatory []string) {
	for _, v := range f.Violations {
		switch v.Level {
		case Disabled:
			continue
		case Advisory:
		default: // what a remediation has left over is no less than mandatory
			v.Level = Mandatory
			mandatory = append(mandatory, v.Policy)
		}
		violations = append(violations, v)
	}
	return violations, mandatory
}

// remediate lets the analyzers rewrite the inputs, one after the other, and returns the result. It reports what they
// rewrote and what they could not.
func (r *analyst) remediate(ctx context.Context, a Analyzed, report func(Event)) (property.Map, error) {
	for _, an := range r.Analyzers {
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
				report(violationEvent(a.URN, info, Violation{Policy: rem.Policy, Message: rem.Diagnostic, Level: Advisory}))
			case rem.Properties != nil:
				after, err := property.HashAssets(ctx, *rem.Properties, r.Directory)
				if err != nil {
					return a.Inputs, r.bailAnalysis(a.Located, fmt.Errorf("%s: failed to run remediation: %s: %w", info.Name, rem.Policy, err))
				}
				report(PolicyRemediation{Policy: policyOf(info, rem.Policy), URN: a.URN, Before: a.Inputs, After: after})
				a.Inputs = after
			}
		}
		report(summarize(AfterRemediate, a.URN, info, touched, answer.NotApplicable))
	}
	return a.Inputs, nil
}

// askAll asks all analyzers at once, or as many as the run allows, and returns their answers in the analyzers' order. Its
// error joins those of the analyzers that could not answer, in that order too.
func (r *analyst) askAll(ask func(Analyzer) (Findings, error)) ([]Findings, error) {
	found := make([]Findings, len(r.Analyzers))
	errs := make([]error, len(r.Analyzers))
	p := pool.New()
	if r.AnalyzeLimit > 0 {
		p = p.WithMaxGoroutines(r.AnalyzeLimit)
	}
	for i, an := range r.Analyzers {
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
func (r *analyst) analysis(a Analyzed) Analysis {
	g := a.Goal
	out := Analysis{URN: a.URN, Type: g.Type, Name: g.Name, Properties: a.Inputs, Options: AnalysisOptions{
		Protect: isTrue(g.Protect), IgnoreChanges: g.IgnoreChanges, DeleteBeforeReplace: g.DeleteBeforeReplace,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, CustomTimeouts: g.CustomTimeouts, Parent: g.Parent,
	}}
	if a.Alias != "" {
		out.Options.Aliases = []urn.URN{a.Alias}
	}
	out.Provider, _ = r.providerState(g.Provider)
	return out
}

// providerState describes the provider that a reference names: as this run has registered it, or as it is recorded under
// that ID. It is nil when there is no reference, and not ok when nobody knows the provider.
func (r *book) providerState(reference string) (p *ProviderState, ok bool) {
	if reference == "" {
		return nil, true
	}
	ref, err := urn.ParseProviderRef(reference)
	if err != nil {
		return nil, false
	}
	s, ok := r.world.lookup(ref.URN)
	if !ok {
		if s = r.base.providers[ref.String()]; s == nil {
			return nil, false
		}
	}
	return &ProviderState{URN: s.URN, Type: s.Type, Name: s.URN.Name(), Properties: s.Inputs.WithoutInternal()}, true
}

// violate reports a violation at a resource.
func (r *analyst) violate(at urn.URN, an Analyzer, v Violation) {
	r.Emit(violationEvent(at, an.Info(), v))
}

func violationEvent(at urn.URN, info AnalyzerInfo, v Violation) PolicyViolation {
	if v.Severity == "" {
		for _, p := range info.Policies {
			if p.Name == v.Policy {
				v.Severity = p.Severity
			}
		}
	}
	return PolicyViolation{Policy: policyOf(info, v.Policy), URN: at, Message: v.Message, Level: v.Level, Severity: v.Severity}
}

func policyOf(info AnalyzerInfo, name string) PolicyName {
	return PolicyName{Pack: info.Name, Version: info.Version, Name: name}
}

func failedIn(f Findings) []string {
	var names []string
	for _, v := range f.Violations {
		names = append(names, v.Policy)
	}
	return names
}

// summarize says which policies of an analyzer passed: all of the kind that was asked, except those that are disabled,
// that failed, and that did not apply.
func summarize(after PolicyStage, at urn.URN, info AnalyzerInfo, failed, notApplicable []string) PolicySummary {
	kind := ResourcePolicy
	if after == AfterAnalyzeStack {
		kind = StackPolicy
	}
	out := PolicySummary{After: after, URN: at, Pack: info.Name, Version: info.Version, Failed: sortedStrings(failed)}
	for _, p := range info.Policies {
		asked := (p.Type == kind || p.Type == UnknownPolicy) && p.Level != Disabled
		if asked && !slices.Contains(failed, p.Name) && !slices.Contains(notApplicable, p.Name) {
			out.Passed = append(out.Passed, p.Name)
		}
	}
	slices.Sort(out.Passed)
	return out
}

func joinNames(names []string) string { return strings.Join(sortedStrings(names), ", ") }

// bailAnalysis is bail for an analyzer that could not answer. That one is gone is said once, and not of a resource.
func (r *analyst) bailAnalysis(l Located, err error) error {
	var lost *AnalyzerLostError
	if !errors.As(err, &lost) {
		return r.bail(l, codeFailed, err)
	}
	if !r.failures.once(lost.Analyzer) {
		r.Halt()
		return &ReportedError{err}
	}
	return r.bail(Located{}, codeFailed, lost)
}
