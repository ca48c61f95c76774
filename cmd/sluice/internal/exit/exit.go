// Package exit determines the exit status of a command (protocol.md 10.4).
//
// Invariant: every error of a command has exactly one status.
package exit

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
)

// The exit statuses.
const (
	Failure    = 1
	Usage      = 2
	NoStack    = 6
	HasChanges = 7
	Cancelled  = 8
	Locked     = 9
	Drifted    = 10
	Awaiting   = 10
	Internal   = 255
)

// Error is an error with an exit status of its own. A quiet error has already been shown.
type Error struct {
	Status int
	Err    error
	Quiet  bool
}

// Error returns the text of the error that it wraps.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that it wraps.
func (e *Error) Unwrap() error { return e.Err }

// AsUsage returns err with the status of a wrong invocation, unless the command was cancelled.
func AsUsage(err error) error {
	var own *Error
	if errors.As(err, &own) && own.Status == Cancelled {
		return err
	}
	return &Error{Status: Usage, Err: err}
}

// Usagef formats an error with the status of a wrong invocation.
func Usagef(format string, args ...any) error { return AsUsage(fmt.Errorf(format, args...)) }

// NoStackf formats an error with the status of a command that finds no stack.
func NoStackf(format string, args ...any) error {
	return &Error{Status: NoStack, Err: fmt.Errorf(format, args...)}
}

// Cancelledf formats an error with the status of a cancelled command.
func Cancelledf(format string, args ...any) error {
	return &Error{Status: Cancelled, Err: fmt.Errorf(format, args...)}
}

// onlyAwaits reports whether an operation failed only because providers could not wait for what they had begun.
func onlyAwaits(failed *sluice.FailedError) bool {
	if failed.Err == nil {
		return false
	}
	for _, err := range failed.Err.Errors {
		if !errors.As(err, new(*providers.AwaitError)) {
			return false
		}
	}
	return len(failed.Err.Errors) > 0
}

// Status returns the exit status of a command that returns err, which is not nil, and reports whether err has already
// been shown.
func Status(err error) (status int, quiet bool) {
	var own *Error
	if errors.As(err, &own) {
		return own.Status, own.Quiet
	}
	var file *workspace.FileError
	var config *workspace.ConfigError
	var setting *sluice.SettingError
	var missing *backend.NotFoundError
	var failed *sluice.FailedError
	var held *lock.HeldError
	switch {
	case errors.As(err, &file), errors.As(err, &config), errors.As(err, &setting),
		errors.Is(err, workspace.ErrNoProject), errors.Is(err, backend.ErrScheme):
		return Usage, false
	case errors.As(err, &held):
		return Locked, false
	case errors.As(err, &failed): // its diagnostics have been shown, including those about another stack that it reads
		if failed.Canceled {
			return Cancelled, true
		}
		if onlyAwaits(failed) {
			return Awaiting, true
		}
		return Failure, true
	case errors.As(err, &missing):
		return NoStack, false
	case errors.Is(err, secrets.ErrIncorrectPassphrase), errors.Is(err, secrets.ErrNoPassphrase), errors.As(err, new(*secrets.UnreadableError)):
		return Usage, false
	case errors.Is(err, context.Canceled):
		return Cancelled, false
	}
	return Failure, false
}
