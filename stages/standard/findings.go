package standard

import (
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// enforced returns the violations that count, and the names of the mandatory policies among them.
func enforced(f stages.Findings) (violations []stages.Violation, mandatory []string) {
	violations = f.Enforced()
	for _, v := range violations {
		if v.Level == stages.Mandatory {
			mandatory = append(mandatory, v.Policy)
		}
	}
	return violations, mandatory
}

func failedIn(f stages.Findings) []string {
	var names []string
	for _, v := range f.Violations {
		names = append(names, v.Policy)
	}
	return names
}

// summarize returns the policies of an analyzer that passed: all of the called kind, except those that are disabled, that failed,
// and that did not apply.
func summarize(after stages.PolicyStage, at urn.URN, info stages.AnalyzerInfo, failed, notApplicable []string) stages.PolicySummary {
	kind := stages.ResourcePolicy
	if after == stages.AfterAnalyzeStack {
		kind = stages.StackPolicy
	}
	out := stages.PolicySummary{After: after, URN: at, Pack: info.Name, Version: info.Version, Failed: slices.Compact(slices.Sorted(slices.Values(failed)))}
	for _, p := range info.Policies {
		asked := (p.Type == kind || p.Type == stages.UnknownPolicy) && p.Level != stages.Disabled
		if asked && !slices.Contains(failed, p.Name) && !slices.Contains(notApplicable, p.Name) {
			out.Passed = append(out.Passed, p.Name)
		}
	}
	slices.Sort(out.Passed)
	return out
}
