package stages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func joinNames(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", ")
}

// Analyzer judges resources before they are planned, and may rewrite their inputs; at the end it judges the stack
// as a whole ([steps.md 11]). A policy pack is one. Its methods may be called from many goroutines.
//
// [steps.md 11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#11-policies
type Analyzer interface {
	// Info describes the policies. It is the same for a whole run and makes no call.
	Info() AnalyzerInfo
	// Remediate may replace a resource's inputs. Analyzers remediate one after the other.
	Remediate(ctx context.Context, r Analysis) (Remedies, error)
	// Analyze reports what a resource violates. Analyzers analyze in parallel.
	Analyze(ctx context.Context, r Analysis) (Findings, error)
	// AnalyzeStack reports what the resources violate together. It is called once, at the end of a run without errors.
	AnalyzeStack(ctx context.Context, rs []StackResource) (Findings, error)
	// Cancel aborts the running calls: the run is being interrupted.
	Cancel(ctx context.Context) error
}

// AnalyzerInfo names a set of policies and lists them.
type AnalyzerInfo struct {
	Name    string
	Version string // without a leading "v"; "" when there is none
	// Directory is the directory of the policies as the caller has given it, "" if they are in none.
	Directory string
	Policies  []PolicyInfo // ordered by name
}

// PolicyName returns the full name of a policy of the pack.
func (i AnalyzerInfo) PolicyName(policy string) PolicyName {
	return PolicyName{Pack: i.Name, Version: i.Version, Name: policy}
}

// ViolationAt returns the event about a violation of a policy of the pack, by the resource with this URN. Without a severity of its own the
// violation has that of the policy.
func (i AnalyzerInfo) ViolationAt(at urn.URN, v Violation) PolicyViolation {
	if v.Severity == "" {
		for _, p := range i.Policies {
			if p.Name == v.Policy {
				v.Severity = p.Severity
			}
		}
	}
	return PolicyViolation{Policy: i.PolicyName(v.Policy), URN: at, Message: v.Message, Level: v.Level, Severity: v.Severity}
}

// PolicyInfo describes one policy, as it is configured.
type PolicyInfo struct {
	Name     string
	Level    EnforcementLevel
	Type     PolicyType
	Severity string // "low", "medium", "high", "critical", or "" when there is none
}

// PolicyType is the kind of subject of a policy.
type PolicyType int

// The types of policies, with their numbers on the wire. Old policy packs do not send them.
const (
	UnknownPolicy PolicyType = iota
	ResourcePolicy
	StackPolicy
)

// Analysis is the part of a registration that an analyzer gets.
type Analysis struct {
	URN  urn.URN
	Type urn.Type
	Name string
	// Properties are the checked inputs, with secrets and unknowns. Only Remediate gets internal ones.
	Properties property.Map
	Options    AnalysisOptions
	Provider   *ProviderState // nil for components and provider resources
}

// AnalysisOptions are the options of an analyzed resource.
type AnalysisOptions struct {
	Protect                 bool
	IgnoreChanges           []string
	DeleteBeforeReplace     *bool // nil: neither demanded nor forbidden
	AdditionalSecretOutputs []string
	Aliases                 []urn.URN // the old URN that matched, if one did
	CustomTimeouts          state.Timeouts
	Parent                  urn.URN
}

// StackResource is the part of a resource that an analyzer gets at the end of a run. Its properties are outputs.
type StackResource struct {
	Analysis
	Dependencies         []urn.URN
	PropertyDependencies map[string][]urn.URN
}

// ProviderState describes the provider of an analyzed resource.
type ProviderState struct {
	URN        urn.URN
	Type       urn.Type
	Name       string
	Properties property.Map
}

// Remedies are the answer to Remediate. NotApplicable names the policies that do not apply to the resource.
type Remedies struct {
	Remediations  []Remediation
	NotApplicable []string
}

// Remediation replaces inputs, or has in Diagnostic the reason why it could not.
type Remediation struct {
	Policy     string
	Properties *property.Map
	Diagnostic string
}

// Findings are the answer to Analyze and AnalyzeStack. NotApplicable names the policies that had nothing to judge.
type Findings struct {
	Violations    []Violation
	NotApplicable []string
}

// Enforced returns the violations that count, with their effective levels ([steps.md 11.3]): one that remains after remediation is at least
// mandatory.
//
// [steps.md 11.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#113-levels
func (f Findings) Enforced() []Violation {
	var out []Violation
	for _, v := range f.Violations {
		switch v.Level {
		case Disabled:
			continue
		case Advisory:
		default:
			v.Level = Mandatory
		}
		out = append(out, v)
	}
	return out
}

// Violation is a broken policy.
type Violation struct {
	Policy   string
	Message  string
	Level    EnforcementLevel
	Severity string  // as in [PolicyInfo]; "" is that of the policy
	URN      urn.URN // of a stack policy: the resource that violates it; "" is the stack
}

// EnforcementLevel is the effect of a violation ([steps.md 11.3]).
//
// [steps.md 11.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#113-levels
type EnforcementLevel int

// The levels of enforcement, with their numbers on the wire.
const (
	Advisory EnforcementLevel = iota
	Mandatory
	Disabled
	Remediate
)

var levelNames = [...]string{Advisory: "advisory", Mandatory: "mandatory", Disabled: "disabled", Remediate: "remediate"}

// String returns the level as events and configurations write it.
func (l EnforcementLevel) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("EnforcementLevel(%d)", int(l))
	}
	return levelNames[l]
}

// ParseEnforcementLevel is the inverse of [EnforcementLevel.String].
func ParseEnforcementLevel(s string) (EnforcementLevel, bool) {
	for l, name := range levelNames {
		if name == s {
			return EnforcementLevel(l), true
		}
	}
	return 0, false
}

// AnalyzerLostError reports that an analyzer has ended, so that nothing can be judged any more. A run reports it once, however many
// resources were waiting for an answer.
type AnalyzerLostError struct {
	Analyzer string
	Err      error
}

func (e *AnalyzerLostError) Error() string { return e.Err.Error() }

// Unwrap returns the error with which it ended.
func (e *AnalyzerLostError) Unwrap() error { return e.Err }

// ViolationError reports that a resource, or the stack, violates mandatory policies. The violations themselves are events.
type ViolationError struct {
	URN      urn.URN // "" is the stack
	Policies []string
}

func (e *ViolationError) Error() string {
	if e.URN == "" {
		return "the stack violates " + joinNames(e.Policies)
	}
	return fmt.Sprintf("resource %s is invalid: it violates %s", e.URN, joinNames(e.Policies))
}
