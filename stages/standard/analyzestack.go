package standard

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

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
					AdditionalSecretOutputs: s.AdditionalSecretOutputs, Aliases: s.Aliases, CustomTimeouts: s.CustomTimeouts,
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
