package backend

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
)

// JournalError reports that an operation on a stack was interrupted and left a journal that may not be applied. The stack can be
// read, but not changed until the user has decided about the journal.
type JournalError struct {
	Stack string
	// Salvage is the file that lists the contents of the journal; "" if there is none.
	Salvage string
	Err     error // a *journal.StaleError, *journal.FormatError, *journal.DamagedError or *IntentError: the problem
}

// undecidable returns the error for a journal that may not be applied, nil if err is another one.
func undecidable(s stackFiles, err error) *JournalError {
	if errors.As(err, new(*journal.StaleError)) || errors.As(err, new(*journal.FormatError)) || errors.As(err, new(*journal.DamagedError)) {
		return &JournalError{Stack: s.ref.Name, Err: err}
	}
	return nil
}

func (e *JournalError) Error() string {
	var b strings.Builder
	var intent *IntentError
	if errors.As(e.Err, &intent) {
		return fmt.Sprintf("stack %s needs a decision: %v%s", e.Stack, intent, intent.both())
	}
	fmt.Fprintf(&b, "stack %s has a journal that needs a decision, and what is read is the state of its last checkpoint: %v", e.Stack, e.Err)
	report, unlisted := e.report()
	if report != nil {
		contents(&b, report)
	}
	if unlisted != nil {
		fmt.Fprintf(&b, "\nNot all of its records can be listed: %v", unlisted)
	}
	if e.Salvage != "" && !e.isNewer() {
		what := "All that it contains"
		if errors.As(e.Err, new(*journal.DamagedError)) {
			what = "All that it contains before the damage"
		}
		fmt.Fprintf(&b, "\n%s is listed in %s", what, e.Salvage)
	}
	return b.String()
}

// report returns what the journal contains, nil if that is not known, and for a damaged journal why the report has not all of
// its whole records.
func (e *JournalError) report() (*journal.Report, error) {
	var stale *journal.StaleError
	var damaged *journal.DamagedError
	switch {
	case errors.As(e.Err, &stale):
		return stale.Report, nil
	case errors.As(e.Err, &damaged):
		return damaged.Report, damaged.Unlisted
	}
	return nil, nil
}

// Advice suggests how to decide. The journal of a newer version needs no decision. The wrapped error has the rest.
func (e *JournalError) Advice() []advice.Advice {
	if e.isNewer() || errors.As(e.Err, new(*IntentError)) {
		return nil
	}
	return []advice.Advice{advice.On(advice.DiscardJournal)}
}

func (e *JournalError) isNewer() bool { return errors.As(e.Err, new(*journal.FormatError)) }

func (e *JournalError) Unwrap() error { return e.Err }

// shown is the number of resources in an error message.
const shown = 10

func contents(b *strings.Builder, r *journal.Report) {
	n := 0
	line := func(what string, res *state.Resource) {
		if n++; n > shown {
			return
		}
		fmt.Fprintf(b, "\n  %s %s", what, res.URN)
		if res.ID != "" {
			fmt.Fprintf(b, " (ID %s)", res.ID)
		}
	}
	for _, c := range r.Done {
		line(c.What, c.Resource)
	}
	for _, op := range r.Open {
		line("had begun "+string(op.Type), op.Resource)
	}
	if n > shown {
		fmt.Fprintf(b, "\n  and %d more", n-shown)
	}
}

// IntentError reports why an interrupted operation on two stacks may not be completed.
type IntentError struct {
	Name      string // of its record
	Operation string // its description, for people
	Foreign   string // the stack that another process has written since; "" for a record that cannot be used
	Renaming  bool
	// Both are the resources that both stacks record, as recorded by the one that was to lose them.
	Both []*state.Resource
	Err  error // the problem of the record
}

func (e *IntentError) Error() string {
	if e.Foreign == "" {
		return fmt.Sprintf("%s, the record of %s that was interrupted, cannot be used: %v", e.Name, e.Operation, e.Err)
	}
	return fmt.Sprintf("%s was interrupted, and stack %s has been written by somebody else since; it was not completed", e.Operation, e.Foreign)
}

func (e *IntentError) Unwrap() error { return e.Err }

// Advice suggests how to decide.
func (e *IntentError) Advice() []advice.Advice {
	if e.Renaming {
		return []advice.Advice{advice.On(advice.DiscardRename)}
	}
	return []advice.Advice{advice.On(advice.DiscardMove)}
}

// both lists the resources that both stacks record.
func (e *IntentError) both() string {
	var b strings.Builder
	if len(e.Both) > 0 {
		b.WriteString("\nBoth stacks record")
		for i, r := range e.Both {
			if i == shown {
				fmt.Fprintf(&b, "\n  and %d more", len(e.Both)-shown)
				break
			}
			fmt.Fprintf(&b, "\n  %s (ID %s)", r.URN, r.ID)
		}
	}
	return b.String()
}
