package backend

import (
	"context"
	"encoding/json"
	"io"
)

// Runs lets others follow operations while they run.
type Runs interface {
	// Begin reports the begin of an operation or of its preview. For an operation the caller holds the lock. The backend may refuse it,
	// or require policies for it.
	Begin(ctx context.Context, o Operation) (Run, error)
}

// Operation describes an operation on a stack for followers.
type Operation struct {
	Kind    string // as in [Update]; "preview" for a preview that no update follows
	Preview bool
	// Describe returns the message and the environment of the operation, as in [Update]. It is called only if the backend uses them; it may be
	// nil.
	Describe func(ctx context.Context) (message string, environment map[string]string)
	Config   json.RawMessage // as in [Update]
	Program  Program
	Parallel int
	// OnLost is called, once and by another goroutine, when the right to carry out the operation is lost. It may be nil.
	OnLost func(error)
}

// Program describes the program, from a project file.
type Program struct{ Name, Runtime, Main, Description string }

// Run is an operation that has begun.
type Run interface {
	// Page is the address where people can follow it, "" if there is none.
	Page() string
	// Events takes the events of the engine, each as a line of JSON; nil if the backend takes none.
	Events() io.Writer
	// Policies are the policy packs that the operation must be held to.
	Policies() []RequiredPolicy
	// End reports the end, when everything is recorded and all events are written.
	End(ctx context.Context, u Update) error
}

// Requirer is a [Stack] of a backend that can require policy packs.
type Requirer interface {
	// RequiredPolicies are the policy packs for an operation that begins now.
	RequiredPolicies(ctx context.Context) ([]RequiredPolicy, error)
}

// EventKeeper is a [Stack] of a backend that keeps the events of operations.
type EventKeeper interface {
	// KeptEvents returns a part of the events of an operation, in their order, each a JSON object, and the token for the next part: "" after
	// the last one. The first part has the token "". operation is the ID that the backend gave to the operation.
	KeptEvents(ctx context.Context, operation string, f EventFilter, token string) (events []json.RawMessage, next string, err error)
}

// EventFilter selects events. The zero value selects all.
type EventFilter struct {
	Types     []string // the numbers of their types at the service; none is any
	URN       string   // of the resource that they are about; "" is any
	Undecided bool     // also those that the backend has not accepted finally
}

// RequiredPolicy is a policy pack that an operation must be held to if it runs the program.
type RequiredPolicy struct {
	Name, Version string
	ID            string                     // of this version of the pack, and of no other one
	Config        map[string]json.RawMessage // by policy
	Environments  []string                   // in the configuration of the pack
	// Fetch opens the pack: a compressed tar archive, with the pack in the folder "package".
	Fetch func(ctx context.Context) (io.ReadCloser, error)
}
