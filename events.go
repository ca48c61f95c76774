package sluice

import "github.com/sluice-iac/sluice/stages"

// The events of an operation. They are the types of package stages, named here so that callers need only this package.
type (
	// Event is something that happened: one of the types below.
	Event = stages.Event
	// Prelude is the first event of a phase.
	Prelude = stages.Prelude
	// Targeting says which resources an operation may touch.
	Targeting = stages.Targeting
	// StepInfo describes a step.
	StepInfo = stages.StepInfo
	// StepStarted says that a step is about to run.
	StepStarted = stages.StepStarted
	// StepDone says that a step has succeeded.
	StepDone = stages.StepDone
	// StepFailed says that a step has failed.
	StepFailed = stages.StepFailed
	// Diagnostic is a message for the user.
	Diagnostic = stages.Diagnostic
	// Stdout is text for the terminal that belongs to no resource.
	Stdout = stages.Stdout
	// Summary is the last event but one.
	Summary = stages.Summary
	// Ended is the last event.
	Ended = stages.Ended
	// PolicyLoad says that a policy pack is about to be loaded.
	PolicyLoad = stages.PolicyLoad
	// PolicyViolation says that a resource, or the stack, violates a policy.
	PolicyViolation = stages.PolicyViolation
	// PolicyRemediation says that a policy has rewritten the inputs of a resource.
	PolicyRemediation = stages.PolicyRemediation
	// PolicySummary says which policies of a pack passed.
	PolicySummary = stages.PolicySummary
	// PolicyName identifies a policy.
	PolicyName = stages.PolicyName
	// AnalyzerInfo describes a policy pack.
	AnalyzerInfo = stages.AnalyzerInfo
	// EnforcementLevel says what a violation leads to.
	EnforcementLevel = stages.EnforcementLevel
	// PolicyStage is what policies were asked to do.
	PolicyStage = stages.PolicyStage
	// Op is the kind of a step.
	Op = stages.Op
	// Reason says why a step was decided on.
	Reason = stages.Reason
	// Severity is the weight of a diagnostic.
	Severity = stages.Severity
	// RunResult is how a run ended.
	RunResult = stages.RunResult
)

// The kinds of steps.
const (
	OpSame                 = stages.OpSame
	OpCreate               = stages.OpCreate
	OpUpdate               = stages.OpUpdate
	OpDelete               = stages.OpDelete
	OpReplace              = stages.OpReplace
	OpCreateReplacement    = stages.OpCreateReplacement
	OpDeleteReplaced       = stages.OpDeleteReplaced
	OpRead                 = stages.OpRead
	OpReadReplacement      = stages.OpReadReplacement
	OpRefresh              = stages.OpRefresh
	OpDiscard              = stages.OpDiscard
	OpDiscardReplaced      = stages.OpDiscardReplaced
	OpRemovePendingReplace = stages.OpRemovePendingReplace
	OpImport               = stages.OpImport
	OpImportReplacement    = stages.OpImportReplacement
)

// The levels of enforcement that violations have.
const (
	Advisory  = stages.Advisory
	Mandatory = stages.Mandatory
)

// What policies are asked to do.
const (
	AfterRemediate    = stages.AfterRemediate
	AfterAnalyze      = stages.AfterAnalyze
	AfterAnalyzeStack = stages.AfterAnalyzeStack
)

// The severities.
const (
	Debug   = stages.Debug
	Info    = stages.Info
	InfoErr = stages.InfoErr
	Warning = stages.Warning
	Error   = stages.Error
)

// The results of a run.
const (
	Succeeded = stages.Succeeded
	Failed    = stages.Failed
	Canceled  = stages.Canceled
)
