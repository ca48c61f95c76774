package pending

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Report describes how interrupted operations were resolved, for scripts.
type Report struct {
	Stack     string      `json:"stack"`
	Resolved  []Operation `json:"settled"`
	Left      []Operation `json:"left"`
	Discarded string      `json:"discardedJournal,omitempty"`
}

// Operation is one interrupted operation.
type Operation struct {
	Type     string `json:"type"`
	URN      string `json:"urn"`
	Outcome  string `json:"outcome"` // one of the outcomes of package stages
	ID       string `json:"id,omitempty"`
	Replaced string `json:"replaced,omitempty"` // the ID of the old object, which the next update deletes
	Reason   string `json:"reason,omitempty"`
}

// Compare reports how each formerly pending operation was resolved: found, as far as recorded; left are still pending.
func Compare(stack string, before, left []state.Pending, found []stages.Resolution) Report {
	open := map[operation]bool{}
	for _, op := range left {
		open[keyOf(op)] = true
	}
	resolutions := map[operation][]stages.Resolution{}
	for _, is := range found {
		resolutions[keyOf(is.Pending)] = append(resolutions[keyOf(is.Pending)], is)
	}
	report := NewReport(stack)
	for _, op := range before {
		key := keyOf(op)
		is := stages.Resolution{Outcome: stages.Unresolved}
		if all := resolutions[key]; len(all) > 0 {
			is, resolutions[key] = all[0], all[1:]
		}
		line := Operation{Type: string(op.Type), URN: string(op.Resource.URN), Outcome: string(is.Outcome), Reason: is.Why}
		if is.Outcome == stages.Unresolved || open[key] {
			line.Outcome = string(stages.Unresolved)
			report.Left = append(report.Left, line)
			continue
		}
		line.ID, line.Replaced = is.ID, is.Replaced
		report.Resolved = append(report.Resolved, line)
	}
	return report
}

// operation identifies an interrupted operation.
type operation struct {
	state.PendingType
	urn.URN
}

func keyOf(op state.Pending) operation { return operation{op.Type, op.Resource.URN} }

// Merge returns the resolutions of a run with those of a later one, which has processed the operations that the first one
// left.
func Merge(first, later []stages.Resolution) []stages.Resolution {
	all := slices.Clone(first)
	for _, is := range later {
		at := slices.IndexFunc(all, func(was stages.Resolution) bool {
			return was.Outcome == stages.Unresolved && keyOf(was.Pending) == keyOf(is.Pending)
		})
		if at < 0 {
			all = append(all, is)
		} else {
			all[at] = is
		}
	}
	return all
}

// NewReport returns an empty report.
func NewReport(stack string) Report {
	return Report{Stack: stack, Resolved: []Operation{}, Left: []Operation{}}
}

// Text returns the report for people.
func (r Report) Text() string {
	var b strings.Builder
	if len(r.Resolved)+len(r.Left) == 0 {
		fmt.Fprintf(&b, "There is nothing to recover on stack '%s'.\n", r.Stack)
		return b.String()
	}
	words := map[string]string{
		"adopted": "it had created", "notCreated": "it had created nothing", "exists": "is recorded as its provider describes it now", "gone": "does not exist any more",
		"dropped": "had changed nothing",
	}
	for _, l := range r.Resolved {
		fmt.Fprintf(&b, "%s %s: %s", l.Type, format.Printable(l.URN), words[l.Outcome])
		if l.ID != "" && l.Outcome == string(stages.Adopted) {
			fmt.Fprintf(&b, " %s", format.Printable(l.ID))
		}
		if l.Replaced != "" {
			fmt.Fprintf(&b, "; the next update deletes %s, which it replaces", format.Printable(l.Replaced))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// LeftError returns an error that lists the operations with an uncertain outcome and explains how to answer. refused reports
// whether the answer to a create was an ID that could not be adopted.
func (r Report) LeftError(refused func(urn string) bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "the outcome of %d is not known:", len(r.Left))
	open, wrong := false, false
	for _, l := range r.Left {
		fmt.Fprintf(&b, "\n  %s %s", l.Type, format.Printable(l.URN))
		if l.Reason != "" {
			fmt.Fprintf(&b, ": %s", format.Printable(l.Reason))
		}
		if l.Type == string(state.Creating) {
			wrong = wrong || refused(l.URN)
			open = open || !refused(l.URN)
		}
	}
	if wrong {
		b.WriteString("\nWhat --adopt named was not adopted, for the reason given. `sluice recover --assume-not-created` forgets a create that " +
			"has made nothing else.")
	}
	if open {
		b.WriteString("\nLook for the objects with the provider's own tools. Then `sluice recover --adopt URN=ID` records one that exists, and " +
			"`sluice recover --assume-not-created` forgets the creates of the others.")
	}
	return errors.New(b.String())
}
