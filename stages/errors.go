package stages

import "errors"

// ErrShutDown is wrapped by what a [Monitor] returns after the run has stopped. Over gRPC it has the code Unavailable,
// which SDKs take as "the engine went away" (protocol.md 4.14).
var ErrShutDown = errors.New("resource monitor shut down")

// ErrRegistrationFailed is what a program that does not understand results gets for a failed or skipped registration
// (steps.md 1.3). Over gRPC it has the code Internal.
var ErrRegistrationFailed = errors.New("resource registration failed")

// InvalidRequestError says that a program sent something malformed. Over gRPC it has the code InvalidArgument.
type InvalidRequestError struct{ Err error }

func (e *InvalidRequestError) Error() string { return e.Err.Error() }
func (e *InvalidRequestError) Unwrap() error { return e.Err }
