package pending

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/state"
)

// Report describes what became of interrupted operations, for scripts.
type Report struct {
	Stack     string      `json:"stack"`
	Resolved  []Operation `json:"settled"`
	Left      []Operation `json:"left"`
	Discarded string      `json:"discardedJournal,omitempty"`
}

// Operation is one interrupted operation.
type Operation struct {
	Type    string `json:"type"`
	URN     string `json:"urn"`
	Outcome string `json:"outcome"` // "adopted", "notCreated", "exists", "gone", "dropped" or "unknown"
	ID      string `json:"id,omitempty"`
}

// Compare reports what became of each operation that was pending before. It compares the operation with the state after
// it, and with the operations that are still pending.
func Compare(stack string, before, left []state.Pending, after *state.Snapshot) Report {
	ids := map[string]string{}
	exists := map[string]bool{}
	if after != nil {
		for _, r := range state.Live(after) {
			ids[string(r.URN)], exists[string(r.URN)] = r.ID, true
		}
	}
	open := map[string]bool{}
	for _, op := range left {
		open[string(op.Type)+string(op.Resource.URN)] = true
	}
	report := NewReport(stack)
	for _, op := range before {
		line := Operation{Type: string(op.Type), URN: string(op.Resource.URN)}
		if open[line.Type+line.URN] {
			line.Outcome = "unknown"
			report.Left = append(report.Left, line)
			continue
		}
		line.Outcome = outcomeOf(op, exists[line.URN])
		if line.Outcome == "adopted" || line.Outcome == "exists" {
			line.ID = ids[line.URN]
		}
		report.Resolved = append(report.Resolved, line)
	}
	return report
}

// NewReport returns an empty report.
func NewReport(stack string) Report {
	return Report{Stack: stack, Resolved: []Operation{}, Left: []Operation{}}
}

func outcomeOf(op state.Pending, exists bool) string {
	switch {
	case op.Type == state.Creating && exists:
		return "adopted"
	case op.Type == state.Creating:
		return "notCreated"
	case op.Type == state.Reading || op.Type == state.Importing:
		return "dropped"
	case exists:
		return "exists"
	}
	return "gone"
}

// Text returns the report for people.
func (r Report) Text() string {
	var b strings.Builder
	if len(r.Resolved)+len(r.Left) == 0 {
		fmt.Fprintf(&b, "Nothing is left to recover on stack '%s'.\n", r.Stack)
		return b.String()
	}
	words := map[string]string{
		"adopted": "it had created", "notCreated": "it had created nothing", "exists": "is recorded as it is now", "gone": "does not exist any more",
		"dropped": "had changed nothing",
	}
	for _, l := range r.Resolved {
		fmt.Fprintf(&b, "%s %s: %s", l.Type, format.Printable(l.URN), words[l.Outcome])
		if l.ID != "" && l.Outcome == "adopted" {
			fmt.Fprintf(&b, " %s", format.Printable(l.ID))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// LeftError returns an error that lists the operations with an uncertain outcome and explains how to answer.
func LeftError(left []state.Pending) error {
	var b strings.Builder
	fmt.Fprintf(&b, "nobody knows what became of %d:", len(left))
	for _, op := range left {
		fmt.Fprintf(&b, "\n  %s %s", op.Type, format.Printable(string(op.Resource.URN)))
	}
	b.WriteString("\nLook for the objects with the provider's own tools. Then `sluice recover --adopt URN=ID` records one that exists, and " +
		"`sluice recover --assume-not-created` forgets the creates of the others.")
	return errors.New(b.String())
}
