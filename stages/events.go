package stages

import (
	"slices"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Event is something that happened during a run: one of the types below. Events are delivered one at a time, for one
// URN in the order in which things happened ([protocol.md 9.4]).
//
// [protocol.md 9.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#94-order
type Event interface{ isEvent() }

// Prelude is the first event of a phase. Config values that are secret read "[secret]".
type Prelude struct {
	Operation string // preview, update, destroy, ...
	IsPreview bool
	Config    map[string]string
}

// StepInfo describes a step in events ([protocol.md 9.2] "metadata"). Old and New are immutable.
//
// [protocol.md 9.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#92-kinds
type StepInfo struct {
	Op           Op
	URN          urn.URN
	Type         urn.Type
	Old, New     *state.Resource
	Keys         []string // the properties that force a replacement
	Diffs        []string // the properties that changed
	DetailedDiff map[string]providers.PropertyDiff
	Provider     string
	Reason       Reason
	Internal     bool // not shown and not counted (steps.md 1.6)
	// RetainedNow is true for the delete of an old object that stays because the program declares retainOnDelete now, and Old did not, or
	// because an import has recorded it anew.
	RetainedNow bool
	// CurrentURN is the URN of the resource whose old object the step removes, if this run has found that resource by an alias; "" if
	// it is URN, or not known yet.
	CurrentURN urn.URN
}

// Resource returns the URN under which the program declares the resource of the step. It differs from URN for the old object of a
// renamed resource.
func (s *StepInfo) Resource() urn.URN {
	if s.CurrentURN != "" {
		return s.CurrentURN
	}
	return s.URN
}

// FormerURN returns the recorded URN of a resource that was found by an alias, "" for any other step.
func (s *StepInfo) FormerURN() urn.URN {
	if s.Old == nil || s.New == nil || s.Old.URN == s.New.URN {
		return ""
	}
	return s.Old.URN
}

// Retains reports whether the step deletes a recorded state and leaves its object.
func (s *StepInfo) Retains() bool { return s.RetainedNow || s.Old != nil && s.Old.RetainOnDelete }

// IsPossible reports whether the step is one of a change that is only possible.
func (s StepInfo) IsPossible() bool { return s.Reason.Possible != nil }

// StepStarted reports that a step is about to run.
type StepStarted struct {
	Step     StepInfo
	Planning bool
	At       time.Time
}

// StepDone reports that a step has succeeded, and for a component once more that its outputs are registered.
type StepDone struct {
	Step     StepInfo
	Planning bool
	At       time.Time
	// Outputs is true if this event reports registered outputs rather than a step.
	Outputs bool
}

// StepFailed reports that a step has failed. Status is that of [protocol.md 9.2]: 0 nothing happened, 1 the resource exists but is
// not healthy, 2 the outcome is unknown.
//
// [protocol.md 9.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#92-kinds
type StepFailed struct {
	Step   StepInfo
	Status int
	Err    error
	At     time.Time
}

// Diagnostic is a message for the user.
type Diagnostic struct {
	LogMessage
	// Code is the number of the message (steps.md appendix B), 0 for others.
	Code int
	// Parent is the parent of a resource whose registration failed before any step; "" for other messages.
	Parent urn.URN
	// Pending are the pending operations that the message lists; nil for every other message.
	Pending []state.Pending
	// Logged is true if the program or a plugin has logged the message. An error that is only logged does not make the run fail.
	Logged bool
}

// IsFailure reports whether the message is an error of the run, and not one that was only logged.
func (d *Diagnostic) IsFailure() bool { return d.Severity == Error && !d.Logged }

// Stdout is text for the user's terminal that belongs to no resource.
type Stdout struct{ Message string }

// LimitWait reports that calls of providers have been waiting for a limit for more than a second, or that none waits for it any
// more.
type LimitWait struct {
	Limit   string // its name
	Waiting bool
}

// DeletionWaves has the waves in which a preview would delete ([steps.md 5.3]). Only previews emit it: once for each
// delete-before-replace with dependents, and once for the deletes after the end of the program, if there are any.
//
// [steps.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#53-order
type DeletionWaves struct {
	// Root is the resource that is replaced, "" for the deletes after the end of the program.
	Root urn.URN
	// Waves has the names of the deleted resources, the first wave first. Nothing in a wave depends on anything else in it,
	// directly or through others, and each resource is one wave after the last of its dependents. An update or destroy does not
	// wait for the rest of a wave. In a wave names are sorted. A name occurs more than once if it has old copies. Views are left
	// out, as they are deleted with their resource.
	Waves [][]urn.URN
}

// PolicyLoad reports that a policy pack is about to be loaded.
type PolicyLoad struct{}

// PolicyName identifies a policy.
type PolicyName struct {
	Pack    string
	Version string // of the pack
	Name    string
}

// PolicyViolation reports that a resource violates a policy. The level is the effective one: advisory or mandatory. URN is that of
// the stack if the stack as a whole violates the policy.
type PolicyViolation struct {
	Policy   PolicyName
	URN      urn.URN
	Message  string
	Level    EnforcementLevel
	Severity string // "low", "medium", "high", "critical", or ""
}

// PolicyRemediation reports that a policy has rewritten the inputs of a resource.
type PolicyRemediation struct {
	Policy        PolicyName
	URN           urn.URN
	Before, After property.Map
}

// PolicyStage is a method of analyzers.
type PolicyStage int

// The methods of analyzers.
const (
	AfterRemediate PolicyStage = iota
	AfterAnalyze
	AfterAnalyzeStack
)

// PolicySummary lists the policies of a pack that passed and those that failed, after one call. A remediation counts as failed if
// it did something. Both lists are ordered; policies that did not apply are in neither. URN is "" for the stack.
type PolicySummary struct {
	After          PolicyStage
	URN            urn.URN
	Pack, Version  string
	Passed, Failed []string
}

// Summary is the last event but one.
type Summary struct {
	IsPreview    bool
	MaybeCorrupt bool // an operation's outcome is unknown, or not clear from its provider's error (steps.md 9.3)
	// Lost are the resources with an operation whose outcome is unknown because the provider was called and has not answered. Those
	// whose provider has answered with an error are not among them.
	Lost []urn.URN
	// Kept are the recorded resources that the program has not declared and that were not deleted because something failed.
	Kept     []urn.URN
	Duration time.Duration
	Changes  map[Op]int
	Possible map[Op]int // how many of Changes are only possible; see [Possibility]
	Result   RunResult
	// Outputs are the outputs of the stack, OldOutputs those before the run.
	Outputs, OldOutputs property.Map
	// Policies are the analyzers that judged the run, in their order.
	Policies []AnalyzerInfo
	// LimitWaits are the limits for which calls of providers have waited for more than a second in all, the longest wait first.
	LimitWaits []providers.LimitWait
}

// RunResult is how a run ended.
type RunResult string

// The results of a run.
const (
	Succeeded RunResult = "succeeded"
	Failed    RunResult = "failed"
	Canceled  RunResult = "canceled"
)

// Ended is always the last event.
type Ended struct{}

func (Prelude) isEvent() {}

func (StepStarted) isEvent() {}

func (StepDone) isEvent() {}

func (StepFailed) isEvent() {}

func (Diagnostic) isEvent() {}

func (Stdout) isEvent() {}

func (Summary) isEvent() {}

func (Ended) isEvent() {}

func (LimitWait) isEvent() {}

func (DeletionWaves) isEvent() {}

func (PolicyLoad) isEvent() {}

func (PolicyViolation) isEvent() {}

func (PolicyRemediation) isEvent() {}

func (PolicySummary) isEvent() {}

// Op is the kind of a step ([steps.md 8.1]).
//
// [steps.md 8.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#81-kinds
type Op string

// The kinds of steps.
const (
	OpSame                 Op = "same"
	OpCreate               Op = "create"
	OpUpdate               Op = "update"
	OpDelete               Op = "delete"
	OpReplace              Op = "replace"
	OpCreateReplacement    Op = "create-replacement"
	OpDeleteReplaced       Op = "delete-replaced"
	OpRead                 Op = "read"
	OpReadReplacement      Op = "read-replacement"
	OpRefresh              Op = "refresh"
	OpDiscard              Op = "discard"
	OpDiscardReplaced      Op = "discard-replaced"
	OpRemovePendingReplace Op = "remove-pending-replace"
	OpImport               Op = "import"
	OpImportReplacement    Op = "import-replacement"
)

// IsLogical reports whether steps of this kind are meaningful to users and counted ([steps.md 8.1]). For a refresh, the kind that it
// found counts.
//
// [steps.md 8.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#81-kinds
func (o Op) IsLogical() bool {
	switch o {
	case OpSame, OpCreate, OpUpdate, OpDelete, OpReplace, OpRead, OpDiscard, OpImport:
		return true
	}
	return false
}

// Whole returns the kind of change that a step of this kind is a part of: a replacement, or the kind itself.
func (o Op) Whole() Op {
	switch o {
	case OpCreateReplacement, OpDeleteReplaced, OpReadReplacement, OpDiscardReplaced, OpImportReplacement:
		return OpReplace
	}
	return o
}

// Danger orders kinds of steps by how much they can destroy: 0 is a delete.
func (o Op) Danger() int {
	for i, ops := range byDanger {
		if slices.Contains(ops, o) {
			return i
		}
	}
	return LeastDanger
}

// LeastDanger is the Danger of steps that change nothing.
const LeastDanger = len(byDanger)

var byDanger = [...][]Op{
	{OpDelete}, {OpDiscard}, {OpReplace, OpDeleteReplaced, OpDiscardReplaced, OpCreateReplacement, OpImportReplacement}, {OpRefresh}, {OpUpdate},
	{OpImport}, {OpCreate},
}

// Removes reports whether a step of this kind removes its old state.
func Removes(op Op) bool {
	switch op {
	case OpDelete, OpDeleteReplaced, OpDiscard, OpDiscardReplaced, OpRemovePendingReplace:
		return true
	}
	return false
}

// Replacing reports whether a step of this kind leaves its old state to be deleted later.
func Replacing(op Op) bool {
	return op == OpCreateReplacement || op == OpReadReplacement || op == OpImportReplacement
}
