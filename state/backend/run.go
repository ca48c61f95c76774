package backend

import (
	"context"
	"encoding/json"
	"io"
)

// Runs is where operations are followed while they run.
type Runs interface {
	// Begin says that an operation begins, or its preview. For an operation the caller holds the lock. Where the state is kept, somebody
	// may refuse it, or want it to be held to policies.
	Begin(ctx context.Context, o Operation) (Run, error)
}

// Operation describes an operation on a stack for whoever follows it.
type Operation struct {
	Kind    string // as in [Update]; "preview" for that of an update that no update follows
	Preview bool
	// Describe returns the message and the environment of the operation, as in [Update]. It is only called where they are wanted; it may be nil.
	Describe func(ctx context.Context) (message string, environment map[string]string)
	Config   json.RawMessage // as in [Update]
	Program  Program
	Parallel int
	// OnLost is called, once and by another goroutine, when the right to carry out the operation is lost. It may be nil.
	OnLost func(error)
}

// Program is what a project file says of the program.
type Program struct{ Name, Runtime, Main, Description string }

// Run is an operation that has begun.
type Run interface {
	// Page is where people can follow it, "" if nowhere.
	Page() string
	// Events takes the events of the engine, each as a line of JSON; nil if nobody wants them.
	Events() io.Writer
	// Policies are the policy packs that the operation must be held to.
	Policies() []RequiredPolicy
	// End says how it has ended, when everything is recorded and all events are written.
	End(ctx context.Context, u Update) error
}

// Requirer is a [Stack] of a backend that can require policy packs.
type Requirer interface {
	// RequiredPolicies are those that an operation which begins now is held to.
	RequiredPolicies(ctx context.Context) ([]RequiredPolicy, error)
}

// RequiredPolicy is a policy pack that an operation must be held to if it runs the program.
type RequiredPolicy struct {
	Name, Version string
	ID            string                     // of this version of the pack, and of no other one
	Config        map[string]json.RawMessage // by policy
	Environments  []string                   // that the pack is configured by
	// Fetch opens the pack: a compressed tar archive, with the pack in the folder "package".
	Fetch func(ctx context.Context) (io.ReadCloser, error)
}
