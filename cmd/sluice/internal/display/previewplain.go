package display

import (
	"encoding/json"
	"time"

	"github.com/sluice-iac/sluice/stages"
)

// plainDocument is the document of a preview without extensions, for a command that stands in for Pulumi.
type plainDocument struct {
	Config        map[string]string `json:"config,omitempty"`
	Steps         []plainStep       `json:"steps,omitempty"`
	Diagnostics   []plainDiagnostic `json:"diagnostics,omitempty"`
	Duration      time.Duration     `json:"duration,omitempty"`
	ChangeSummary map[string]int    `json:"changeSummary,omitempty"`
	MaybeCorrupt  bool              `json:"maybeCorrupt,omitempty"`
}

type plainStep struct {
	Op             string                  `json:"op"`
	URN            string                  `json:"urn"`
	Provider       string                  `json:"provider,omitempty"`
	OldState       json.RawMessage         `json:"oldState,omitempty"` // as in a checkpoint; secrets are the text "[secret]"
	NewState       json.RawMessage         `json:"newState,omitempty"`
	DiffReasons    []string                `json:"diffReasons,omitempty"`
	ReplaceReasons []string                `json:"replaceReasons,omitempty"`
	DetailedDiff   map[string]documentDiff `json:"detailedDiff"`
}

type plainDiagnostic struct {
	URN      string `json:"urn,omitempty"`
	Message  string `json:"message,omitempty"` // begins with the severity
	Severity string `json:"severity,omitempty"`
}

// newPlainDiagnostic returns a message of the run.
func newPlainDiagnostic(d stages.Diagnostic) plainDiagnostic {
	e := newDiagnosticEvent(d)
	return plainDiagnostic{e.URN, clean(e.Prefix + e.Message), e.Severity}
}
