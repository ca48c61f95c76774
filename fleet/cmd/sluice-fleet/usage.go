package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit statuses, which are those of sluice.
const (
	statusFailure    = 1
	statusUsage      = 2
	statusHasChanges = 7
	statusCancelled  = 8
	statusDrifted    = 10
)

// statusError is an error with an exit status of its own. A quiet one has already been shown.
type statusError struct {
	status int
	err    error
	quiet  bool
}

func (e *statusError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error {
	return &statusError{status: statusUsage, err: fmt.Errorf(format, args...)}
}

// arguments accepts at least least and at most most arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			return wrongUse(cmd, "missing argument")
		case n > most && cmd.HasSubCommands():
			return wrongUse(cmd, fmt.Sprintf("unknown command %q for %q", args[most], cmd.CommandPath()))
		case n > most:
			return wrongUse(cmd, fmt.Sprintf("unexpected argument %q", args[most]))
		}
		return nil
	}
}

// wrongFlag returns the error for a flag that cannot be parsed.
func wrongFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return wrongUse(cmd, fmt.Sprintf("--%s cannot be %q: it takes %s", f.Name, invalid.GetValue(), f.Value.Type()))
	}
	return wrongUse(cmd, err.Error())
}

func wrongUse(cmd *cobra.Command, problem string) error {
	return usagef("%s\nusage: %s\n`%s --help` describes the command", problem, cmd.UseLine(), cmd.CommandPath())
}

// numbered formats a count: "1 stack", or "2 stacks".
func numbered(count int, what string) string {
	if count != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", count, what)
}
