package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// report shows an error and returns the exit status.
func (c *cli) report(err error) int {
	if err == nil {
		return 0
	}
	status, quiet := exit.Status(err)
	var undecided *sluice.StackJournalError
	switch {
	case quiet:
	case errors.As(err, &undecided) && c.undecided[undecided.Stack]: // it has been explained
		fmt.Fprintf(c.Err, "error: stack %s is not changed before the decision that the warning above asks for\n", undecided.Stack)
	default:
		fmt.Fprintf(c.Err, "error: %s\n", strings.TrimRight(err.Error(), "\n"))
	}
	return status
}
