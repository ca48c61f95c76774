package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// AnalyzeStack lets the analyzers judge the stack as it has become (steps.md 11.4). It is called once, when everything is
// done and the outputs of the stack are final, and asks nothing after a failure: except in a preview that has failed for
// policies alone, so that all that is wrong comes to light at once.
func (r *analyst) AnalyzeStack(ctx context.Context) error {
	if len(r.Analyzers) == 0 || r.IsHalted() || !r.onlyViolations() {
		return nil
	}
	resources, err := r.stackResources()
	if err != nil {
		return r.bail(Located{}, 0, fmt.Errorf("failed to analyze resources: %w", err))
	}
	found, err := r.askAll(func(an Analyzer) (Findings, error) { return an.AnalyzeStack(ctx, resources) })
	if err != nil {
		return r.bailAnalysis(Located{}, fmt.Errorf("failed to analyze resources: %w", err))
	}
	root := urn.RootStack(r.Info.Stack, r.Info.Project)
	known := make(map[urn.URN]bool, len(resources))
	for _, s := range resources {
		known[s.URN] = true
	}
	var broken []string
	for i, an := range r.Analyzers {
		violations, mandatory := enforced(found[i])
		for _, v := range violations {
			at := root
			if known[v.URN] {
				at = v.URN
			}
			r.violate(at, an, v)
		}
		broken = append(broken, mandatory...)
		r.Emit(summarize(AfterAnalyzeStack, "", an.Info(), failedIn(found[i]), found[i].NotApplicable))
	}
	if len(broken) > 0 {
		r.failures.add(Failure{Err: &ViolationError{Policies: broken}})
	}
	return nil
}

// onlyViolations tells whether nothing has failed but policies in a preview.
func (r *analyst) onlyViolations() bool {
	for _, f := range r.failures.sorted() {
		if !r.DryRun() || !errors.As(f.Err, new(*ViolationError)) {
			return false
		}
	}
	return true
}

// stackResources describes all managed resources of the stack as they are now, each after what it refers to.
func (r *analyst) stackResources() ([]StackResource, error) {
	var out []StackResource
	for _, s := range r.finalStates() {
		provider, ok := r.providerState(s.Provider)
		if !ok {
			return nil, fmt.Errorf("provider %s for resource %s has not been registered yet, this is due to a change of providers "+
				"mixed with --target. Change your program back to the original providers", s.Provider, s.URN)
		}
		out = append(out, StackResource{
			Analysis: Analysis{
				URN: s.URN, Type: s.Type, Name: s.URN.Name(), Properties: s.Outputs.WithoutInternal(), Provider: provider,
				Options: AnalysisOptions{
					Protect: s.Protect, IgnoreChanges: s.IgnoreChanges, DeleteBeforeReplace: r.deleteFirstOf(s.URN),
					AdditionalSecretOutputs: s.AdditionalSecretOutputs, Aliases: s.Aliases, CustomTimeouts: s.CustomTimeouts,
					Parent: s.Parent,
				},
			},
			Dependencies: s.Dependencies, PropertyDependencies: s.PropertyDependencies,
		})
	}
	return out, nil
}

// finalStates returns the managed resources that this run has registered or carried over, in canonical order.
func (r *book) finalStates() []*state.Resource {
	news := r.world.all()
	maps.DeleteFunc(news, func(u urn.URN, _ *state.Resource) bool { return r.names.newNameOf(u) != u }) // carried over, then renamed
	order := r.inOrder(slices.Sorted(maps.Keys(news)), func(u urn.URN) *state.Resource { return news[u] })
	out := make([]*state.Resource, len(order))
	for i, u := range order {
		out[i] = news[u]
	}
	return out
}

// deleteFirstOf returns what the program demanded of a replacement. States that are only carried over have no demands.
func (r *analyst) deleteFirstOf(u urn.URN) *bool {
	if f := r.families.of(u); f != nil && f.goal != nil {
		return f.goal.DeleteBeforeReplace
	}
	return nil
}
