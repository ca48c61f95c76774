package standard

import (
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// enforced returns the violations that count, with their effective levels (steps.md 11.3), and the names of the mandatory policies
// among them.
func enforced(f stages.Findings) (violations []stages.Violation, mandatory []string) {
	for _, v := range f.Violations {
		switch v.Level {
		case stages.Disabled:
			continue
		case stages.Advisory:
		default: // a violation that remains after remediation is at least mandatory
			v.Level = stages.Mandatory
			mandatory = append(mandatory, v.Policy)
		}
		violations = append(violations, v)
	}
	return violations, mandatory
}

func violationEvent(at urn.URN, info stages.AnalyzerInfo, v stages.Violation) stages.PolicyViolation {
	if v.Severity == "" {
		for _, p := range info.Policies {
			if p.Name == v.Policy {
				v.Severity = p.Severity
			}
		}
	}
	return stages.PolicyViolation{Policy: policyOf(info, v.Policy), URN: at, Message: v.Message, Level: v.Level, Severity: v.Severity}
}

func policyOf(info stages.AnalyzerInfo, name string) stages.PolicyName {
	return stages.PolicyName{Pack: info.Name, Version: info.Version, Name: name}
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
