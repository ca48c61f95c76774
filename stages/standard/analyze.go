package standard

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/requests"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
)

// analyst calls the analyzers.
type analyst struct {
	control   *control.Control
	rooms     *rooms.Rooms
	families  *requests.Families
	analyzers []stages.Analyzer
	limit     int    // how many analyzers judge at once; 0 is all
	directory string // relative paths of assets are resolved against it
}

// stage returns the stage that calls the analyzers (steps.md 11). For each registration it runs first every analyzer's
// remediations, one after the other, then all analyses at once. Reads pass through. A mandatory violation stops an update; a
// preview continues and fails at its end.
func (an *analyst) stage() pipeline.Stage[stages.Checked, stages.Analyzed] {
	workers := access.MinReadWorkers
	if len(an.analyzers) == 0 {
		workers = 1 // everything passes through
	}
	return pipeline.Stage[stages.Checked, stages.Analyzed]{
		Name:    "analyze",
		Workers: workers,
		Buffer:  access.MinReadWorkers,
		Run: func(ctx context.Context, c stages.Checked, emit pipeline.Emit[stages.Analyzed]) error {
			a := stages.Analyzed{Checked: c}
			if len(an.analyzers) > 0 && c.Goal != nil && !c.Course.HasFailed() && !c.Course.IsBypassed() && c.Violation == nil && c.Unknown == nil {
				var err error
				if a, err = an.analyze(ctx, a); err != nil {
					if err := an.control.PassOn(&a.Located, err); err != nil {
						return err
					}
				}
			}
			return emit(a)
		},
	}
}

func (an *analyst) analyze(ctx context.Context, a stages.Analyzed) (stages.Analyzed, error) {
	inputs, err := an.remediate(ctx, a, an.control.Emit)
	if err != nil {
		return a, err
	}
	a.Remediated = !property.EqualMaps(a.Inputs, inputs)
	a.Inputs = inputs
	return an.judge(ctx, a, an.control.Emit)
}

// judge lets the analyzers judge the inputs, and adds the violations that they have not found before. It reports what each analyzer has done.
func (an *analyst) judge(ctx context.Context, a stages.Analyzed, report func(stages.Event)) (stages.Analyzed, error) {
	analysis := an.analysis(a)
	analysis.Properties = analysis.Properties.WithoutInternal()
	found, err := an.askAll(func(pack stages.Analyzer) (stages.Findings, error) { return pack.Analyze(ctx, analysis) })
	if err != nil {
		return a, an.bailAnalysis(a.Located, fmt.Errorf("failed to run policy: %w", err))
	}
	before := a.Violations
	var broken []string
	for i, pack := range an.analyzers {
		violations, mandatory := enforced(found[i])
		for _, v := range violations {
			if slices.ContainsFunc(before, func(b stages.Violation) bool { return reflect.DeepEqual(b, v) }) {
				mandatory = slices.DeleteFunc(mandatory, func(policy string) bool { return policy == v.Policy })
				continue
			}
			an.violate(a.URN, pack, v)
			a.Violations = append(slices.Clip(a.Violations), v)
		}
		broken = append(broken, mandatory...)
		report(summarize(stages.AfterAnalyze, a.URN, pack.Info(), failedIn(found[i]), found[i].NotApplicable))
	}
	if len(broken) == 0 {
		return a, nil
	}
	broke := &stages.ViolationError{URN: a.URN, Policies: broken}
	if an.control.DryRun() {
		an.control.Fail(a.Seq, a.URN, stages.CodeShown, broke)
		return a, nil
	}
	return a, an.control.Bail(a.Located, stages.CodeShown, broke)
}

// remediate lets the analyzers rewrite the inputs, one after the other, and returns the result. It reports the rewritten inputs and
// the failed remediations.
func (an *analyst) remediate(ctx context.Context, a stages.Analyzed, report func(stages.Event)) (property.Map, error) {
	for _, pack := range an.analyzers {
		info := pack.Info()
		answer, err := pack.Remediate(ctx, an.analysis(a))
		if err != nil {
			return a.Inputs, an.bailAnalysis(a.Located, fmt.Errorf("%s: failed to run remediation: %w", info.Name, err))
		}
		var touched []string
		for _, rem := range answer.Remediations {
			touched = append(touched, rem.Policy)
			switch {
			case rem.Diagnostic != "":
				report(info.ViolationAt(a.URN, stages.Violation{Policy: rem.Policy, Message: rem.Diagnostic, Level: stages.Advisory}))
			case rem.Properties != nil:
				after, err := property.HashAssets(ctx, *rem.Properties, an.directory)
				if err != nil {
					return a.Inputs, an.bailAnalysis(a.Located, fmt.Errorf("%s: failed to run remediation: %s: %w", info.Name, rem.Policy, err))
				}
				report(stages.PolicyRemediation{Policy: info.PolicyName(rem.Policy), URN: a.URN, Before: a.Inputs, After: after})
				a.Inputs = after
			}
		}
		report(summarize(stages.AfterRemediate, a.URN, info, touched, answer.NotApplicable))
	}
	return a.Inputs, nil
}

// askAll calls ask for all analyzers at once, or for as many as the run allows, and returns their answers in the analyzers' order.
// Its error joins the errors of the analyzers that could not answer, in that order too. One that panics or does not return could not answer.
func (an *analyst) askAll(ask func(stages.Analyzer) (stages.Findings, error)) ([]stages.Findings, error) {
	found := make([]stages.Findings, len(an.analyzers))
	errs := make([]error, len(an.analyzers))
	p := pool.New()
	if an.limit > 0 {
		p = p.WithMaxGoroutines(an.limit)
	}
	for i, pack := range an.analyzers {
		p.Go(func() {
			pipeline.Attempt(func() (err error) {
				found[i], err = ask(pack)
				return err
			}, func(err error) {
				if err != nil {
					errs[i] = fmt.Errorf("%s: %w", pack.Info().Name, err)
				}
			})
		})
	}
	p.Wait()
	return found, errors.Join(errs...)
}

// analysis describes a registration with its present inputs.
func (an *analyst) analysis(a stages.Analyzed) stages.Analysis {
	g := a.Goal
	out := stages.Analysis{URN: a.URN, Type: g.Type, Name: g.Name, Properties: a.Inputs, Options: stages.AnalysisOptions{
		Protect: g.IsProtected(), IgnoreChanges: g.IgnoreChanges, DeleteBeforeReplace: g.DeleteBeforeReplace,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, CustomTimeouts: g.CustomTimeouts.Value(), Parent: g.Parent,
	}}
	if a.Alias != "" {
		out.Options.Aliases = []urn.URN{a.Alias}
	}
	out.Provider, _ = an.rooms.ProviderState(g.Provider)
	return out
}

// violate reports a violation by a resource.
func (an *analyst) violate(at urn.URN, pack stages.Analyzer, v stages.Violation) {
	an.control.Emit(pack.Info().ViolationAt(at, v))
}

// bailAnalysis is like Bail, for an analyzer that could not answer. The end of an analyzer is reported once, and not for a
// resource.
func (an *analyst) bailAnalysis(l stages.Located, err error) error {
	var lost *stages.AnalyzerLostError
	if !errors.As(err, &lost) {
		return an.control.FailRegistration(l, stages.CodeFailed, err)
	}
	if !an.control.Failed.Once(lost.Analyzer) {
		an.control.Halt()
		return &stages.ReportedError{Err: err}
	}
	return an.control.Bail(stages.Located{}, stages.CodeFailed, lost)
}

// analyzeStack lets the analyzers judge the resulting stack (steps.md 11.4). It is called once, when all steps are done
// and the outputs of the stack are final. It does nothing after a failure, except in a preview that has failed because of
// policies alone, so that all violations are shown at once.
func (an *analyst) analyzeStack(ctx context.Context) error {
	if len(an.analyzers) == 0 || an.control.IsHalted() || !an.onlyViolations() {
		return nil
	}
	resources, err := an.stackResources()
	if err != nil {
		return an.control.Bail(stages.Located{}, 0, fmt.Errorf("failed to analyze resources: %w", err))
	}
	found, err := an.askAll(func(pack stages.Analyzer) (stages.Findings, error) { return pack.AnalyzeStack(ctx, resources) })
	if err != nil {
		return an.bailAnalysis(stages.Located{}, fmt.Errorf("failed to analyze resources: %w", err))
	}
	root := urn.RootStack(an.control.Info.Stack, an.control.Info.Project)
	known := make(map[urn.URN]bool, len(resources))
	for _, s := range resources {
		known[s.URN] = true
	}
	var broken []string
	for i, pack := range an.analyzers {
		violations, mandatory := enforced(found[i])
		for _, v := range violations {
			at := root
			if known[v.URN] {
				at = v.URN
			}
			an.violate(at, pack, v)
		}
		broken = append(broken, mandatory...)
		an.control.Emit(summarize(stages.AfterAnalyzeStack, "", pack.Info(), failedIn(found[i]), found[i].NotApplicable))
	}
	if len(broken) > 0 {
		an.control.Fail(0, "", stages.CodeShown, &stages.ViolationError{Policies: broken})
	}
	return nil
}

// onlyViolations reports whether all failures are policy violations in a preview.
func (an *analyst) onlyViolations() bool {
	for _, f := range an.control.Failures() {
		if !an.control.DryRun() || !errors.As(f.Err, new(*stages.ViolationError)) {
			return false
		}
	}
	return true
}

// stackResources describes all managed resources of the stack in their present state, each after those that it refers to.
func (an *analyst) stackResources() ([]stages.StackResource, error) {
	var out []stages.StackResource
	for _, s := range an.rooms.FinalStates() {
		provider, ok := an.rooms.ProviderState(s.Provider)
		if !ok {
			return nil, fmt.Errorf("provider %s for resource %s has not been registered yet, this is due to a change of providers "+
				"mixed with --target. Change your program back to the original providers", s.Provider, s.URN)
		}
		out = append(out, stages.StackResource{
			Analysis: stages.Analysis{
				URN: s.URN, Type: s.Type, Name: s.URN.Name(), Properties: s.Outputs.WithoutInternal(), Provider: provider,
				Options: stages.AnalysisOptions{
					Protect: s.Protect, IgnoreChanges: s.IgnoreChanges, DeleteBeforeReplace: an.deleteFirstOf(s.URN),
					AdditionalSecretOutputs: s.AdditionalSecretOutputs, Aliases: s.Aliases, CustomTimeouts: s.CustomTimeouts.Value(),
					Parent: s.Parent,
				},
			},
			Dependencies: s.Dependencies, PropertyDependencies: s.PropertyDependencies,
		})
	}
	return out, nil
}

// deleteFirstOf returns the option of the program for the order of a replacement. For states that are carried forward there is
// none.
func (an *analyst) deleteFirstOf(u urn.URN) *bool {
	if f := an.families.Of(u); f != nil && f.Own != nil {
		return f.Own.DeleteBeforeReplace
	}
	return nil
}
