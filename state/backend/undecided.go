package backend

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
)

// JournalError says that an operation on a stack was cut off and left a journal that may not be applied. The stack can be
// read, but not changed until somebody has decided about the journal.
type JournalError struct {
	Stack string
	// Salvage is the file that lists what the journal contains; "" if that is not known.
	Salvage string
	Err     error // a *journal.StaleError, *journal.FormatError, *journal.DamagedError or *PairError; says what is wrong
}

func (e *JournalError) Error() string {
	var b strings.Builder
	var pair *PairError
	if errors.As(e.Err, &pair) {
		return fmt.Sprintf("stack %s needs a decision: %v%s", e.Stack, pair, pair.advice())
	}
	fmt.Fprintf(&b, "stack %s has a journal that needs a decision: %v", e.Stack, e.Err)
	var newer *journal.FormatError
	if errors.As(e.Err, &newer) {
		return b.String()
	}
	var stale *journal.StaleError
	if errors.As(e.Err, &stale) && stale.Report != nil {
		contents(&b, stale.Report)
	}
	if e.Salvage != "" {
		fmt.Fprintf(&b, "\nAll that it contains is listed in %s", e.Salvage)
	}
	b.WriteString("\nCompare that with the stack (`sluice stack export`, `sluice refresh --preview-only`), and then put the journal " +
		"aside with `sluice recover --discard`")
	return b.String()
}

func (e *JournalError) Unwrap() error { return e.Err }

// shown is how many resources an error message lists.
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

// PairError says why an operation on two stacks that was cut off may not be completed.
type PairError struct {
	Name      string // of the record of what it was about to write
	Operation string // what it is, for people
	Foreign   string // the stack that somebody else has written since; "" for a record that cannot be used
	Renaming  bool
	// Both are the resources that both stacks record, as the one that was to lose them does.
	Both []*state.Resource
	Err  error // what is wrong with the record
}

func (e *PairError) Error() string {
	if e.Foreign == "" {
		return fmt.Sprintf("%s, the record of %s that was cut off, cannot be used: %v", e.Name, e.Operation, e.Err)
	}
	return fmt.Sprintf("%s was cut off, and stack %s has been written by somebody else since; it was not completed", e.Operation, e.Foreign)
}

func (e *PairError) Unwrap() error { return e.Err }

// advice says what to do.
func (e *PairError) advice() string {
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
	b.WriteString("\nCompare the two stacks (`sluice stack --show-urns`). Put the record aside with `sluice recover --discard`; then ")
	if e.Renaming {
		b.WriteString("`sluice stack rm --force` removes the stack that should not be there, and deletes no object")
	} else {
		b.WriteString("`sluice state delete` takes what both stacks record out of one of them, and deletes no object")
	}
	return b.String()
}
