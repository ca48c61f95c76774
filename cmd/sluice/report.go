package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// report shows the error of a command, and returns the exit status.
func report(open *session.Opener, err error) int {
	if err == nil {
		return 0
	}
	status, quiet := exit.Status(err)
	if (status == exit.Cancelled || status == exit.Locked) && open.Terminal.AsPulumi {
		status = exit.Failure // Pulumi's actual status, in spite of its table of statuses
	}
	var undecided *backend.JournalError
	says := open.Terminal.Err
	switch {
	case quiet:
	case errors.Is(err, terminal.ErrInterrupted): // the request no longer matters
		fmt.Fprintf(says, "error: %v\n", terminal.ErrInterrupted)
	case errors.As(err, &undecided) && open.WarnedOf(undecided.Stack): // a warning has explained it
		fmt.Fprintf(says, "error: stack %s cannot be changed until its journal is dealt with, as the warning above describes\n", undecided.Stack)
	default:
		text := "error: " + strings.TrimRight(open.Terminal.Named(advise.Text(err)), "\n")
		fmt.Fprintln(says, display.Fit(text, open.Terminal.ErrWidth()))
	}
	return status
}
