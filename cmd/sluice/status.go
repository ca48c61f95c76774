package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// The exit statuses (protocol.md 10.4).
const (
	statusFailure    = 1
	statusUsage      = 2
	statusNoStack    = 6
	statusHasChanges = 7
	statusCancelled  = 8
	statusInternal   = 255
)

// statusError is an error that decides the exit status. A quiet one has been shown already.
type statusError struct {
	status int
	err    error
	quiet  bool
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error {
	return &statusError{status: statusUsage, err: fmt.Errorf(format, args...)}
}

func noStackErrorf(format string, args ...any) error {
	return &statusError{status: statusNoStack, err: fmt.Errorf(format, args...)}
}

// report shows an error and returns the exit status.
func (c *cli) report(err error) int {
	if err == nil {
		return 0
	}
	status, quiet := classify(err)
	var undecided *sluice.StackJournalError
	switch {
	case quiet:
	case errors.As(err, &undecided) && c.undecided[undecided.Stack]: // it has been explained
		fmt.Fprintf(c.err, "error: stack %s is not changed before the decision that the warning above asks for\n", undecided.Stack)
	default:
		fmt.Fprintf(c.err, "error: %s\n", strings.TrimRight(err.Error(), "\n"))
	}
	return status
}

func classify(err error) (status int, quiet bool) {
	var s *statusError
	if errors.As(err, &s) {
		return s.status, s.quiet
	}
	var file *workspace.FileError
	var config *workspace.ConfigError
	var missing *sluice.StackNotFoundError
	var failed *sluice.FailedError
	switch {
	case errors.As(err, &file), errors.As(err, &config), errors.Is(err, workspace.ErrNoProject):
		return statusUsage, false
	case errors.As(err, &missing):
		return statusNoStack, false
	case errors.As(err, &failed): // its diagnostics have been shown
		if failed.Canceled {
			return statusCancelled, true
		}
		return statusFailure, true
	case errors.Is(err, context.Canceled):
		return statusCancelled, false
	}
	return statusFailure, false
}
