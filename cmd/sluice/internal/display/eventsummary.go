package display

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// EventSummary summarizes the recorded events of one operation: its result, what it did to which resource, and its error messages. It is not
// safe for concurrent use.
type EventSummary struct {
	doc          eventSummary
	first, last  time.Time
	failed, over bool
}

// eventSummary is the summary in JSON. It is that of --output json, with the steps that failed and the messages.
type eventSummary struct {
	Result      string                   `json:"result"`
	Duration    time.Duration            `json:"duration"` // in nanoseconds
	Summary     map[string]int           `json:"summary,omitempty"`
	Resources   []eventSummaryResource   `json:"resources,omitempty"`
	Diagnostics []eventSummaryDiagnostic `json:"diagnostics,omitempty"`
}

type eventSummaryResource struct {
	summaryResource
	Failed bool `json:"failed,omitempty"`
}

type eventSummaryDiagnostic struct {
	Severity string `json:"severity"`
	URN      string `json:"urn,omitempty"`
	Message  string `json:"message"`
}

// Observe processes an event. An operation that follows its preview in the same events replaces it.
func (s *EventSummary) Observe(e LoggedEvent) {
	if s.over {
		if _, again := e.Event.(stages.Ended); again {
			return // a log may repeat it
		}
		*s = EventSummary{}
	}
	if e.At.Unix() > 0 {
		if s.first.IsZero() {
			s.first = e.At
		}
		s.last = e.At
	}
	switch e := e.Event.(type) {
	case stages.StepStarted:
		if !e.Step.Internal && e.Step.Op != stages.OpSame {
			s.doc.Resources = append(s.doc.Resources, eventSummaryResource{summaryResource: newSummaryResource(e.Step)})
		}
	case stages.StepFailed:
		s.fail(e.Step)
	case stages.Diagnostic:
		// Programs write why they fail to the standard error, which is not an error by itself.
		if !e.Ephemeral && (e.Severity == stages.Error || e.Severity == stages.InfoErr) {
			s.failed = s.failed || e.IsFailure()
			s.say(e.Severity, e.URN, e.Message)
		}
	case stages.PolicyViolation:
		if e.Level == stages.Mandatory {
			s.failed = true
			s.say(stages.Error, e.URN, fmt.Sprintf("%s/%s: %s", e.Policy.Pack, e.Policy.Name, e.Message))
		}
	case stages.Summary:
		s.doc.Result, s.doc.Duration = string(e.Result), e.Duration
		s.doc.Summary = make(map[string]int, len(e.Changes))
		for op, n := range e.Changes {
			s.doc.Summary[string(op)] = n
		}
	case stages.Ended:
		s.over = true
	}
}

func (s *EventSummary) say(severity stages.Severity, of urn.URN, message string) {
	s.doc.Diagnostics = append(s.doc.Diagnostics, eventSummaryDiagnostic{severity.String(), string(of), strings.TrimRight(clean(message), "\n")})
}

// fail marks the last step of a resource as failed.
func (s *EventSummary) fail(step stages.StepInfo) {
	s.failed = true
	for i := len(s.doc.Resources) - 1; i >= 0; i-- {
		if r := &s.doc.Resources[i]; r.URN == string(step.URN) {
			r.Failed = true
			return
		}
	}
	s.doc.Resources = append(s.doc.Resources, eventSummaryResource{newSummaryResource(step), true})
}

// complete returns the summary. Without an event with the result, which an operation that was killed lacks, the result is that of the steps.
func (s *EventSummary) complete() eventSummary {
	doc := s.doc
	switch {
	case doc.Result != "":
	case s.failed:
		doc.Result = string(stages.Failed)
	case doc.Summary != nil:
		doc.Result = string(stages.Succeeded)
	default:
		doc.Result = "unknown"
	}
	if doc.Duration == 0 {
		doc.Duration = s.last.Sub(s.first)
	}
	return doc
}

// WriteJSON writes the summary as one line of JSON.
func (s *EventSummary) WriteJSON(out io.Writer) error {
	enc := json.NewEncoder(printable.JSONWriter{Out: out})
	enc.SetEscapeHTML(false)
	return enc.Encode(s.complete())
}

// WriteText writes the summary for people.
func (s *EventSummary) WriteText(out io.Writer) error {
	doc := s.complete()
	var b strings.Builder
	fmt.Fprintf(&b, "Result: %s\nDuration: %s\n", cleanLine(doc.Result), doc.Duration)
	if len(doc.Summary) > 0 {
		b.WriteString("Changes:")
		for _, op := range slices.Sorted(maps.Keys(doc.Summary)) {
			fmt.Fprintf(&b, " %s %d", cleanLine(op), doc.Summary[op])
		}
		b.WriteString("\n")
	}
	if len(doc.Resources) > 0 {
		b.WriteString("Resources:\n")
	}
	for _, r := range doc.Resources {
		failed := ""
		if r.Failed {
			failed = "  failed"
		}
		fmt.Fprintf(&b, "    %-18s  %s %s%s\n", cleanLine(r.Op), cleanLine(shortType(urn.Type(r.Type))), cleanLine(r.Name), failed)
	}
	if len(doc.Diagnostics) > 0 {
		b.WriteString("Messages:\n")
	}
	for _, d := range doc.Diagnostics {
		of := ""
		if d.URN != "" {
			of = cleanLine(d.URN) + ": "
		}
		fmt.Fprintf(&b, "    %s: %s%s\n", d.Severity, of, strings.ReplaceAll(d.Message, "\n", "\n    "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
