package display

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// policyEvents are the kinds of events about policies (protocol.md 9.2).
type policyEvents struct {
	Policy           *policyEvent        `json:"policyEvent,omitempty"`
	Remediation      *remediationEvent   `json:"policyRemediationEvent,omitempty"`
	Load             *struct{}           `json:"policyLoadEvent,omitempty"`
	AnalyzeSummary   *policySummaryEvent `json:"policyAnalyzeSummaryEvent,omitempty"`
	RemediateSummary *policySummaryEvent `json:"policyRemediateSummaryEvent,omitempty"`
	StackSummary     *stackSummaryEvent  `json:"policyAnalyzeStackSummaryEvent,omitempty"`
}

// packIdentity names a policy pack in events. The version is also the tag.
type packIdentity struct {
	Pack       string `json:"policyPackName"`
	Version    string `json:"policyPackVersion"`
	VersionTag string `json:"policyPackVersionTag"`
}

type policyEvent struct {
	URN     string `json:"resourceUrn,omitempty"`
	Message string `json:"message"`
	Color   string `json:"color"`
	Name    string `json:"policyName"`
	packIdentity
	Level    string `json:"enforcementLevel"`
	Severity string `json:"severity,omitempty"`
}

func (p *policyEvent) violation() stages.PolicyViolation {
	level, _ := stages.ParseEnforcementLevel(p.Level)
	return stages.PolicyViolation{
		Policy: stages.PolicyName{Pack: p.Pack, Version: p.Version, Name: p.Name}, URN: urn.URN(p.URN),
		Message: strings.TrimSuffix(p.Message, "\n"), Level: level, Severity: p.Severity,
	}
}

type remediationEvent struct {
	URN   string `json:"resourceUrn,omitempty"`
	Color string `json:"color"`
	Name  string `json:"policyName"`
	packIdentity
	Before map[string]any `json:"before,omitempty"`
	After  map[string]any `json:"after,omitempty"`
}

type policySummaryEvent struct {
	URN string `json:"resourceUrn"`
	stackSummaryEvent
}

type stackSummaryEvent struct {
	packIdentity
	Passed []string `json:"passed,omitempty"`
	Failed []string `json:"failed,omitempty"`
}

// fill sets the field for e, and reports whether there is one.
func (n *policyEvents) fill(e stages.Event) bool {
	switch e := e.(type) {
	case stages.PolicyLoad:
		n.Load = &struct{}{}
	case stages.PolicyViolation:
		n.Policy = &policyEvent{
			URN: string(e.URN), Message: strings.TrimRight(e.Message, "\n") + "\n", Color: "raw", Name: e.Policy.Name,
			packIdentity: identityOf(e.Policy.Pack, e.Policy.Version), Level: e.Level.String(), Severity: e.Severity,
		}
	case stages.PolicyRemediation:
		n.Remediation = &remediationEvent{
			URN: string(e.URN), Color: "raw", Name: e.Policy.Name, packIdentity: identityOf(e.Policy.Pack, e.Policy.Version),
			Before: jsonMap(e.Before, false), After: jsonMap(e.After, false),
		}
	case stages.PolicySummary:
		n.summarize(e)
	default:
		return false
	}
	return true
}

func (n *policyEvents) summarize(e stages.PolicySummary) {
	said := stackSummaryEvent{packIdentity: identityOf(e.Pack, e.Version), Passed: e.Passed, Failed: e.Failed}
	switch e.After {
	case stages.AfterRemediate:
		n.RemediateSummary = &policySummaryEvent{string(e.URN), said}
	case stages.AfterAnalyze:
		n.AnalyzeSummary = &policySummaryEvent{string(e.URN), said}
	default:
		n.StackSummary = &said
	}
}

func identityOf(pack, version string) packIdentity { return packIdentity{pack, version, version} }

// describe returns the kind of an event and its main content. Foreign texts in it are not cleaned.
func (n *policyEvents) describe() (kind, details string) {
	policy := func(p packIdentity, name string) string { return p.Pack + "/" + name + ": " }
	counts := func(s stackSummaryEvent) string {
		return fmt.Sprintf("%s: %d passed, %d failed", s.Pack, len(s.Passed), len(s.Failed))
	}
	switch {
	case n.Policy != nil:
		return "policy " + n.Policy.Level, policy(n.Policy.packIdentity, n.Policy.Name) + n.Policy.URN + ": " + n.Policy.Message
	case n.Remediation != nil:
		return "policy remediates", policy(n.Remediation.packIdentity, n.Remediation.Name) + n.Remediation.URN
	case n.Load != nil:
		return "policies load", ""
	case n.AnalyzeSummary != nil:
		return "policies analyze", n.AnalyzeSummary.URN + ": " + counts(n.AnalyzeSummary.stackSummaryEvent)
	case n.RemediateSummary != nil:
		return "policies remediate", n.RemediateSummary.URN + ": " + counts(n.RemediateSummary.stackSummaryEvent)
	case n.StackSummary != nil:
		return "policies analyze", counts(*n.StackSummary)
	}
	return "other", ""
}
