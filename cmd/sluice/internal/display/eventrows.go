package display

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// WriteEvents writes events as a table for people, one or more lines each: the time, the kind, and what the event is about. next returns one
// event after the other, each a JSON object of an event log, and false after the last one.
func WriteEvents(out io.Writer, next func() (event []byte, more bool, err error)) error {
	count := 0
	for {
		event, more, err := next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		var n eventEnvelope
		if err := json.Unmarshal(event, &n); err != nil {
			return fmt.Errorf("an event cannot be read: %w", err)
		}
		if count++; count == 1 {
			if _, err := fmt.Fprintf(out, eventRow, "TIME", "KIND", "DETAILS"); err != nil {
				return err
			}
		}
		if err := writeEventRow(out, &n); err != nil {
			return err
		}
	}
	if count == 0 {
		_, err := fmt.Fprintln(out, "There are no events.")
		return err
	}
	return nil
}

// eventRow has the width of a time, and that of the longest usual kind.
const eventRow = "%-20s  %-18s  %s\n"

// writeEventRow writes an event as lines of the table.
func writeEventRow(out io.Writer, n *eventEnvelope) error {
	when := ""
	if n.Timestamp > 0 {
		when = time.Unix(n.Timestamp, 0).UTC().Format(time.RFC3339)
	}
	kind, details := describeEvent(n)
	for line := range strings.SplitSeq(strings.TrimRight(clean(details), "\n"), "\n") {
		if _, err := fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf(strings.TrimSuffix(eventRow, "\n"), when, kind, line), " ")); err != nil {
			return err
		}
		when, kind = "", ""
	}
	return nil
}

// describeEvent returns the kind of an event and its main content. Foreign texts in it are not cleaned.
func describeEvent(n *eventEnvelope) (kind, details string) {
	step := func(m eventMetadata) string { return m.Op + " " + m.URN }
	switch {
	case n.Cancel != nil:
		return "end", ""
	case n.Stdout != nil:
		return "output", n.Stdout.Message
	case n.Diagnostic != nil:
		d := n.Diagnostic
		if d.URN != "" {
			return d.Severity, d.URN + ": " + d.Message
		}
		return d.Severity, d.Message
	case n.Prelude != nil:
		return "begin", n.Prelude.Operation
	case n.Summary != nil:
		return "summary", fmt.Sprintf("%s after %s", n.Summary.Result, format.Plural(n.Summary.DurationSeconds, "second", "seconds"))
	case n.ResourcePre != nil:
		return "step begins", step(n.ResourcePre.Metadata)
	case n.ResOutputs != nil:
		return "step ends", step(n.ResOutputs.Metadata)
	case n.ResOpFailed != nil:
		return "step fails", step(n.ResOpFailed.Metadata)
	case n.StartDebugging != nil:
		return "debugger", ""
	}
	return n.policyEvents.describe()
}
