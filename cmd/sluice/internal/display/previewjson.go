package display

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// PreviewDocument collects the events of a preview for --json, which prints one document at the end (protocol.md 9.6).
// It is safe for concurrent use.
type PreviewDocument struct {
	o           Options
	mu          sync.Mutex
	config      map[string]string
	diagnostics []documentDiagnostic
	pending     []pendingOperation
	waves       []stages.DeletionWaves
	summary     *stages.Summary
	// plainDiagnostics are those that Pulumi's document has.
	plainDiagnostics []plainDiagnostic
}

// NewPreviewDocument begins a document.
func NewPreviewDocument(o Options) *PreviewDocument { return &PreviewDocument{o: o} }

// Observe processes an event.
func (d *PreviewDocument) Observe(e stages.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := e.(type) {
	case stages.Prelude:
		d.config = e.Config
	case stages.Diagnostic:
		d.pending = append(d.pending, pendingOperations(e.Pending)...)
		if !e.Ephemeral && (e.Severity != stages.Debug || d.o.Debug) {
			d.diagnostics = append(d.diagnostics, newDocumentDiagnostic(e))
			d.plainDiagnostics = append(d.plainDiagnostics, newPlainDiagnostic(e))
		}
	case stages.PolicyViolation:
		d.diagnostics = append(d.diagnostics, documentViolation(e))
	case stages.DeletionWaves:
		d.waves = append(d.waves, e)
	case stages.Summary:
		d.summary = &e
	}
}

func newDocumentDiagnostic(d stages.Diagnostic) documentDiagnostic {
	return documentDiagnostic{string(d.URN), severityPrefix(d.Severity), clean(d.Message), d.Severity.String()}
}

// documentViolation returns a violation as a message, because the document has no other place for the reason of a
// failed preview.
func documentViolation(v stages.PolicyViolation) documentDiagnostic {
	severity := stages.Warning
	if v.Level == stages.Mandatory {
		severity = stages.Error
	}
	text := fmt.Sprintf("[%s@v%s] %s: %s\n", v.Policy.Pack, v.Policy.Version, v.Policy.Name, strings.TrimSpace(v.Message))
	return documentDiagnostic{string(v.URN), v.Level.String() + ": ", clean(text), severity.String()}
}

// documentFrame is the document of a preview, with steps and messages of some form. The lists and maps that are nil are left out.
type documentFrame[S, D any] struct {
	Config        map[string]string `json:"config,omitempty"`
	Steps         []S               `json:"steps,omitzero"`
	Diagnostics   []D               `json:"diagnostics,omitempty"`
	Duration      *time.Duration    `json:"duration,omitzero"`
	ChangeSummary map[string]int    `json:"changeSummary,omitzero"`
	MaybeCorrupt  bool              `json:"maybeCorrupt,omitempty"`
}

// document is the document with extensions.
type document struct {
	documentFrame[documentStep, documentDiagnostic]
	documentExtensions
}

// plainDocument is the document without extensions, for a command that stands in for Pulumi.
type plainDocument = documentFrame[plainStep, plainDiagnostic]

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

// frameOf returns the part of a document that does not depend on the form of its steps. The messages are ordered by resource, as their arrival
// is not the same each time; those of the run itself come last.
func frameOf[S, D any](d *PreviewDocument, diagnostics []D, urnOf func(D) string) documentFrame[S, D] {
	all := slices.Clone(diagnostics)
	slices.SortStableFunc(all, func(a, b D) int {
		u, v := urnOf(a), urnOf(b)
		if (u == "") != (v == "") {
			return -strings.Compare(u, v)
		}
		return strings.Compare(u, v)
	})
	out := documentFrame[S, D]{Config: d.config, Diagnostics: all}
	if d.summary != nil {
		out.Duration, out.MaybeCorrupt = &d.summary.Duration, d.summary.MaybeCorrupt
		out.ChangeSummary = make(map[string]int, len(d.summary.Changes))
		for op, n := range d.summary.Changes {
			out.ChangeSummary[string(op)] = n
		}
	}
	return out
}

// documentExtensions are sluice's extensions of the document.
type documentExtensions struct {
	// Pending are the pending operations of earlier runs.
	Pending []pendingOperation `json:"pendingOperations,omitempty"`
	// Waves are the waves in which resources would be deleted.
	Waves []documentWaves `json:"deletionWaves,omitempty"`
	// Kept are the resources that the program has not declared and that stay because something failed.
	Kept []urn.URN `json:"kept,omitempty"`
	// Renames are the pairs of a delete and a create that are probably one resource.
	Renames []renames.Rename `json:"renames,omitempty"`
}

type documentStep struct {
	Op             string                  `json:"op"`
	URN            string                  `json:"urn"`
	Provider       string                  `json:"provider,omitempty"`
	OldState       *documentState          `json:"oldState,omitempty"`
	NewState       *documentState          `json:"newState,omitempty"`
	DiffReasons    []string                `json:"diffReasons,omitempty"`
	ReplaceReasons []string                `json:"replaceReasons,omitempty"`
	DetailedDiff   map[string]documentDiff `json:"detailedDiff"`
	// Reason is an extension by sluice: the reason for the step.
	Reason string `json:"reason,omitempty"`
	// Possible is an extension by sluice: why the change is only possible.
	Possible *stages.Possibility `json:"possible,omitempty"`
}

type documentDiff struct {
	Kind      string `json:"kind"`
	InputDiff bool   `json:"inputDiff"`
}

type documentDiagnostic struct {
	URN      string `json:"urn,omitempty"`
	Prefix   string `json:"prefix,omitempty"`
	Message  string `json:"message"`
	Severity string `json:"severity"`
}

// documentState is a resource in the form of checkpoints (state.md 1.6), without the fields that only engines need.
type documentState struct {
	URN                     string               `json:"urn"`
	Custom                  bool                 `json:"custom"`
	Delete                  bool                 `json:"delete,omitempty"`
	ID                      string               `json:"id,omitempty"`
	Type                    string               `json:"type"`
	Inputs                  map[string]any       `json:"inputs,omitempty"`
	Outputs                 map[string]any       `json:"outputs,omitempty"`
	Parent                  string               `json:"parent,omitempty"`
	Protect                 bool                 `json:"protect,omitempty"`
	Taint                   bool                 `json:"taint,omitempty"`
	External                bool                 `json:"external,omitempty"`
	Dependencies            []urn.URN            `json:"dependencies,omitempty"`
	InitErrors              []string             `json:"initErrors,omitempty"`
	Provider                string               `json:"provider,omitempty"`
	PropertyDependencies    map[string][]urn.URN `json:"propertyDependencies,omitempty"`
	PendingReplacement      bool                 `json:"pendingReplacement,omitempty"`
	AdditionalSecretOutputs []string             `json:"additionalSecretOutputs,omitempty"`
	ImportID                string               `json:"importID,omitempty"`
	RetainOnDelete          bool                 `json:"retainOnDelete,omitempty"`
	DeletedWith             string               `json:"deletedWith,omitempty"`
	Created                 *time.Time           `json:"created,omitempty"`
	Modified                *time.Time           `json:"modified,omitempty"`
	SourcePosition          string               `json:"sourcePosition,omitempty"`
}

// Write writes the document of a preview with the given steps and the log of its decisions, which may be nil.
func (d *PreviewDocument) Write(out io.Writer, steps []stages.StepInfo, log *why.Log) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.o.Extended {
		return writePreview(out, d.extended(steps, log))
	}
	doc, err := d.plain(steps)
	if err != nil {
		return fmt.Errorf("write the preview: %w", err)
	}
	return writePreview(out, doc)
}

// writePreview writes one of the documents.
func writePreview(out io.Writer, doc any) error {
	enc := json.NewEncoder(printable.JSONWriter{Out: out})
	enc.SetIndent("", "    ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write the preview: %w", err)
	}
	return nil
}

// extended returns the document with all extensions.
func (d *PreviewDocument) extended(steps []stages.StepInfo, log *why.Log) *document {
	doc := &document{documentFrame: frameOf[documentStep](d, d.diagnostics, func(m documentDiagnostic) string { return m.URN })}
	doc.Steps, doc.Pending = []documentStep{}, d.pending
	if d.summary == nil {
		doc.Duration, doc.ChangeSummary = new(time.Duration), map[string]int{}
	} else {
		doc.Kept = d.summary.Kept
	}
	for _, w := range inOrderOfDeletion(d.waves) {
		doc.Waves = append(doc.Waves, documentWaves(w))
	}
	if log != nil {
		doc.Renames = log.Renames()
	}
	for _, s := range steps {
		if d.shows(s) {
			doc.Steps = append(doc.Steps, d.step(s))
		}
	}
	return doc
}

func (d *PreviewDocument) shows(s stages.StepInfo) bool {
	switch {
	case s.URN.Type() == urn.RootStackType:
		return true
	case s.Internal:
		return false
	case s.Op == stages.OpSame:
		return d.o.ShowSames
	case s.Op == stages.OpRead || s.Op == stages.OpReadReplacement:
		return d.o.ShowReads
	case isReplacementPart(s.Op):
		return d.o.ShowReplacementSteps
	}
	return true
}

func (d *PreviewDocument) step(s stages.StepInfo) documentStep {
	out := documentStep{
		Op: string(s.Op), URN: string(s.URN), Provider: s.Provider,
		OldState: d.state(s.Old), NewState: d.state(s.New),
		DiffReasons: slices.Clone(s.Diffs), ReplaceReasons: slices.Clone(s.Keys), Reason: strings.TrimSpace(s.Reason.String()),
		Possible: s.Reason.Possible,
	}
	if s.DetailedDiff != nil {
		out.DetailedDiff = make(map[string]documentDiff, len(s.DetailedDiff))
		for path, diff := range s.DetailedDiff {
			out.DetailedDiff[path] = documentDiff{diff.Kind.String(), diff.InputDiff}
		}
	}
	return out
}

func (d *PreviewDocument) state(r *state.Resource) *documentState {
	if r == nil {
		return nil
	}
	s := &documentState{
		URN: string(r.URN), Custom: r.Custom, Delete: r.Delete, ID: r.ID, Type: string(r.Type),
		Inputs: jsonMap(r.Inputs, d.o.ShowSecrets), Outputs: jsonMap(r.Outputs, d.o.ShowSecrets),
		Parent: string(r.Parent), Protect: r.Protect, Taint: r.Taint, External: r.External,
		Dependencies: r.Dependencies, InitErrors: r.InitErrors, Provider: r.Provider,
		PropertyDependencies: r.PropertyDependencies, PendingReplacement: r.PendingReplacement,
		AdditionalSecretOutputs: r.AdditionalSecretOutputs, ImportID: r.ImportID, RetainOnDelete: r.RetainOnDelete,
		DeletedWith: string(r.DeletedWith), SourcePosition: r.SourcePosition,
	}
	if !r.Created.IsZero() {
		s.Created = &r.Created
	}
	if !r.Modified.IsZero() {
		s.Modified = &r.Modified
	}
	return s
}

// plain returns the document without extensions.
func (d *PreviewDocument) plain(steps []stages.StepInfo) (*plainDocument, error) {
	doc := frameOf[plainStep](d, d.plainDiagnostics, func(p plainDiagnostic) string { return p.URN })
	if len(doc.ChangeSummary) == 0 {
		doc.ChangeSummary = nil
	}
	if doc.Duration != nil && *doc.Duration == 0 {
		doc.Duration = nil
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
	return &doc, nil
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
