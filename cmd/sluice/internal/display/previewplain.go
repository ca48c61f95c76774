package display

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
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

// plain returns the document without extensions.
func (d *PreviewDocument) plain(steps []stages.StepInfo) (*plainDocument, error) {
	doc := &plainDocument{Config: d.config, Diagnostics: d.plainDiagnostics}
	if d.summary != nil {
		doc.Duration, doc.MaybeCorrupt = d.summary.Duration, d.summary.MaybeCorrupt
		doc.ChangeSummary = make(map[string]int, len(d.summary.Changes))
		for op, n := range d.summary.Changes {
			doc.ChangeSummary[string(op)] = n
		}
	}
	states := state.NewEncoder(state.EncoderOptions{Masked: true})
	for _, s := range steps {
		if !d.shows(s) {
			continue
		}
		step := d.step(s)
		out := plainStep{
			Op: step.Op, URN: step.URN, Provider: step.Provider, DiffReasons: step.DiffReasons, ReplaceReasons: step.ReplaceReasons,
			DetailedDiff: step.DetailedDiff,
		}
		var err error
		if out.OldState, err = plainState(states, s.Old); err != nil {
			return nil, err
		}
		if out.NewState, err = plainState(states, beforeStep(s)); err != nil {
			return nil, err
		}
		doc.Steps = append(doc.Steps, out)
	}
	return doc, nil
}

// beforeStep returns the planned state of a step without the values that only the step provides.
func beforeStep(s stages.StepInfo) *state.Resource {
	if s.New == nil || s.New == s.Old || s.Op == stages.OpRefresh {
		return s.New
	}
	r := s.New.Clone()
	r.Outputs, r.Created, r.Modified = property.Map{}, time.Time{}, time.Time{}
	if s.Old != nil {
		r.Created, r.Modified = s.Old.Created, s.Old.Modified
	}
	switch s.Op {
	case stages.OpSame, stages.OpCreate, stages.OpUpdate, stages.OpCreateReplacement, stages.OpReplace:
		r.ID = ""
	}
	return r
}

func plainState(states *state.Encoder, r *state.Resource) (json.RawMessage, error) {
	if r == nil {
		return nil, nil
	}
	return states.Resource(context.Background(), r, false)
}
