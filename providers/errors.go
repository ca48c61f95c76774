package providers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
)

// InitError reports that a resource exists but is not healthy: its fields are to be recorded ([protocol.md 3.7]). It is
// returned by Create, Update and Read. The engine makes one itself of an answer with properties that no state can hold.
// That of a Create must have the ID: without it the create has an uncertain
// outcome. Without an ID, that of a Read is about the object that was asked for.
//
// [protocol.md 3.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#37-partial-failure
type InitError struct {
	ID                  string
	Properties          property.Map
	Inputs              property.Map // of a Read
	HasInputs           bool
	Reasons             []string // are recorded; without any, the text of Err is
	RefreshBeforeUpdate bool
	Err                 error // the provider's error
}

func (e *InitError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	if len(e.Reasons) == 0 {
		return e.reason()
	}
	return "the resource was made but did not become healthy: " + strings.Join(e.Reasons, "; ")
}

// reason is the reason of an error that gives none.
func (e *InitError) reason() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return "the resource was made but did not become healthy, and the provider gives no reason"
}

func (e *InitError) Unwrap() error { return e.Err }

// AwaitError wraps the error of a Create or Update that a provider has begun and could not wait for. Nothing is to be recorded ([protocol.md 3.7]).
//
// [protocol.md 3.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#37-partial-failure
type AwaitError struct{ Err error }

func (e *AwaitError) Error() string {
	return e.Err.Error() + ": the provider did not wait for the end of the operation; run the same command again when it has ended"
}

func (e *AwaitError) Unwrap() error { return e.Err }

// DiffUnavailableError reports that a provider cannot compare yet. It counts as a change without details ([steps.md 3.8]).
//
// [steps.md 3.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#38-diff
type DiffUnavailableError struct{ Reason string }

func (e *DiffUnavailableError) Error() string { return e.Reason }

// ErrUnsupported is wrapped by the error of a method that a provider does not have.
var ErrUnsupported = errors.New("the provider does not support this")

// ErrConfigurationUnknown is wrapped by the error of Construct on a provider whose configuration is not known in a
// preview: the engine then registers the component itself ([protocol.md 3.2]).
//
// [protocol.md 3.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#32-a-configuration-that-is-not-known
var ErrConfigurationUnknown = errors.New("the provider's configuration is not known during the preview")

// ErrUnserved is wrapped by the errors of [Deployment.MonitorAddress] and [Status.Token] if nothing serves the run to other processes.
var ErrUnserved = errors.New("other processes cannot call the engine")

// UncertainError wraps the error of an operation with an uncertain outcome: it may have taken effect ([steps.md 9.3]).
//
// [steps.md 9.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#93-failed-calls
type UncertainError struct {
	Err error
	// Lost is true when the request reached the provider and its answer is missing: its process ended, the connection broke, the call was
	// abandoned, or the response could not be encoded, decoded or used. It is false for an error that the provider itself returned. The
	// operation then stays pending (state.md 9.4 R-7).
	Lost bool
}

func (e *UncertainError) Error() string { return e.Err.Error() }
func (e *UncertainError) Unwrap() error { return e.Err }

// ConfigMissingError lists configuration that a provider needs and did not get.
type ConfigMissingError struct {
	Package string
	Keys    []MissingKey
}

// MissingKey is one key with the provider's description of it.
type MissingKey struct{ Name, Description string }

func (e *ConfigMissingError) Error() string {
	var b strings.Builder
	for i, k := range e.Keys {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "missing required configuration key %q: %s", k.Name, k.Description)
	}
	return b.String()
}

// Advice suggests setting the keys.
func (e *ConfigMissingError) Advice() []advice.Advice {
	var as []advice.Advice
	for _, k := range e.Keys {
		as = append(as, advice.Advice{Action: advice.SetConfig, Key: k.Name})
	}
	return as
}
