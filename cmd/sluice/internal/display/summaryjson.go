package display

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// SummaryLine collects the events of one phase for --output json, which prints one line of JSON when the phase is over. It is safe
// for concurrent use.
type SummaryLine struct {
	o    Options
	mu   sync.Mutex // guards line
	line summaryLine
}

// summaryLine is that line.
type summaryLine struct {
	Result    stages.RunResult  `json:"result"`
	Duration  time.Duration     `json:"duration"` // in nanoseconds
	Summary   map[string]int    `json:"summary,omitempty"`
	Resources []summaryResource `json:"resources,omitempty"`
	summaryLineExtensions
}

// summaryLineExtensions are sluice's extensions of the line.
type summaryLineExtensions struct {
	Diagnostics []documentDiagnostic `json:"diagnostics,omitempty"`
	// Kept is another extension: the resources that the program has not declared and that stay because something failed.
	Kept []urn.URN `json:"kept,omitempty"`
}

// summaryResource is a step that was begun or, in a preview, planned.
type summaryResource struct {
	URN    string `json:"urn"`
	Type   string `json:"type"`
	Name   string `json:"name"`
	Op     string `json:"op"`
	Parent string `json:"parent,omitempty"`
}

// NewSummaryLine begins a line. Its result is "failed" until the summary of the phase arrives.
func NewSummaryLine(o Options) *SummaryLine {
	return &SummaryLine{o: o, line: summaryLine{Result: stages.Failed}}
}

// Observe processes an event.
func (l *SummaryLine) Observe(e stages.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := e.(type) {
	case stages.StepStarted:
		if s := e.Step; !s.Internal && (s.Op != stages.OpSame || l.o.ShowSames) {
			l.line.Resources = append(l.line.Resources, newSummaryResource(s))
		}
	case stages.Diagnostic:
		if e.Severity == stages.Error && !e.Ephemeral {
			l.line.Diagnostics = append(l.line.Diagnostics, newDocumentDiagnostic(e))
		}
	case stages.PolicyViolation:
		if e.Level == stages.Mandatory {
			l.line.Diagnostics = append(l.line.Diagnostics, documentViolation(e))
		}
	case stages.Summary:
		l.line.Result, l.line.Duration, l.line.Kept = e.Result, e.Duration, e.Kept
		l.line.Summary = make(map[string]int, len(e.Changes))
		for op, n := range e.Changes {
			l.line.Summary[string(op)] = n
		}
	}
}

func newSummaryResource(s stages.StepInfo) summaryResource {
	out := summaryResource{URN: string(s.URN), Type: string(s.URN.Type()), Name: s.URN.Name(), Op: string(s.Op)}
	if r := cmp.Or(s.New, s.Old); r != nil {
		out.Parent = string(r.Parent)
	}
	return out
}

// Write writes the line.
func (l *SummaryLine) Write(out io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.line
	if !l.o.Extended {
		line.summaryLineExtensions = summaryLineExtensions{}
	}
	enc := json.NewEncoder(printable.JSONWriter{Out: out})
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}
