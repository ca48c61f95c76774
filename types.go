package sluice

import (
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// The records that results and events hold, named here so that callers need only this package.
type (
	// Resource is the recorded state of one resource. It is immutable.
	Resource = state.Resource
	// Snapshot is the recorded state of a stack.
	Snapshot = state.Snapshot
	// SecretsProvider says how the secrets of a snapshot are encrypted.
	SecretsProvider = state.SecretsProvider
	// PendingOperation is an operation that has begun and whose end was not recorded.
	PendingOperation = state.Pending
	// CreateResolution says what is to be done about a create that an earlier operation began and whose end nobody knows; see
	// [Options.ResolveCreate].
	CreateResolution = stages.CreateResolution
	// InterruptedCreateError says that a resource was not created, because nobody knows whether an earlier operation has done it.
	InterruptedCreateError = stages.InterruptedCreateError
	// PropertyDiff says how a provider judges the change of one property.
	PropertyDiff = providers.PropertyDiff
	// DiffKind is the kind of change of one property.
	DiffKind = providers.DiffKind
	// Plan is what an update is allowed to do; see [Options.Plan].
	Plan = state.Plan
	// PlanViolation says that something is not as planned, and was not done.
	PlanViolation = stages.PlanViolation
	// Monitor is what a program that is a Go function talks to.
	Monitor = stages.Monitor
	// RegisterRequest declares one resource.
	RegisterRequest = stages.RegisterRequest
	// RegisterReply answers a registration.
	RegisterReply = stages.RegisterReply
	// LogMessage is a message for the user.
	LogMessage = stages.LogMessage
)

// The types of pending operations.
const (
	PendingCreate = state.Creating
	PendingRead   = state.Reading
	PendingImport = state.Importing
)

// The kinds of change.
const (
	DiffAdd           = providers.DiffAdd
	DiffAddReplace    = providers.DiffAddReplace
	DiffDelete        = providers.DiffDelete
	DiffDeleteReplace = providers.DiffDeleteReplace
	DiffUpdate        = providers.DiffUpdate
	DiffUpdateReplace = providers.DiffUpdateReplace
)
