package display

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// EventLog writes events as JSON lines (protocol.md 9). Observe returns after the event is in the file or sent to the server, because other
// processes follow the log while it grows. An EventLog is safe for concurrent use.
type EventLog struct {
	extended bool // with sluice's extensions of Pulumi's events
	mu       sync.Mutex
	out      io.Writer
	close    func() error
	sequence int
	now      func() time.Time
	ended    bool
	err      error // the first error; nothing is written after it
	said     [weights]logged
}

// maxLogged limits the messages of each weight in an event log: the size of their JSON in bytes. Programs and plugins can print without end.
const maxLogged = 64 << 20

// logged counts messages of one weight.
type logged struct {
	size    int // the bytes of those written
	omitted int // the number of those left out
	lost    int // the bytes of those left out
}

// OpenEventLog opens a log for one phase of an operation: a file, which it truncates, or an event server at tcp://127.0.0.1:<port> (protocol.md
// 9.5). With extended, the events have sluice's extensions.
func OpenEventLog(ctx context.Context, path string, extended bool) (*EventLog, error) {
	if address, network := strings.CutPrefix(path, networkScheme); network {
		s, err := dialEventStream(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("the event log %s: %w", path, err)
		}
		return &EventLog{extended: extended, out: s, close: s.Close, now: time.Now}, nil
	}
	f, err := private.Truncate(path)
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	return &EventLog{extended: extended, out: f, close: f.Close, now: time.Now}, nil
}

// StreamEvents returns a log that writes to a stream and does not close it. With extended, the events have sluice's extensions.
func StreamEvents(out io.Writer, extended bool) *EventLog {
	return &EventLog{extended: extended, out: out, close: func() error { return nil }, now: time.Now}
}

// Observe writes an event.
func (l *EventLog) Observe(e stages.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d, ok := e.(stages.Diagnostic); ok && d.Debugger != nil {
		l.writeLine(eventEnvelope{StartDebugging: &startDebuggingEvent{d.Debugger}})
	}
	l.write(e)
}

// Close ends the log. The last line is always a cancel event, also if the operation failed before it began.
func (l *EventLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.write(stages.Ended{})
	}
	return errors.Join(l.err, l.close())
}

func (l *EventLog) write(e stages.Event) {
	switch e.(type) {
	case stages.Summary, stages.Ended:
		l.note()
	}
	var envelope eventEnvelope
	if !envelope.fill(e) {
		return
	}
	if !l.extended {
		envelope.dropExtensions()
	}
	l.writeLine(envelope)
	if _, ends := e.(stages.Ended); ends {
		l.ended = true
	}
}

// writeLine writes a line with its number and its time.
func (l *EventLog) writeLine(envelope eventEnvelope) {
	if l.err != nil || l.ended {
		return
	}
	envelope.Sequence, envelope.Timestamp = l.sequence, l.now().Unix()
	text, err := json.Marshal(envelope)
	if err == nil && !l.takes(envelope, len(text)) {
		return
	}
	if err == nil {
		_, err = l.out.Write(append(printable.JSON(text), '\n'))
	}
	if err != nil {
		l.err = fmt.Errorf("write the event log: %w", err)
		return
	}
	l.sequence++
}

// takes reports whether there is room for a line of the log. Only messages are limited.
func (l *EventLog) takes(envelope eventEnvelope, size int) bool {
	w := routine
	switch d := envelope.Diagnostic; {
	case d == nil && envelope.Stdout == nil:
		return true
	case d != nil && (d.Severity == stages.Error.String() || d.Severity == stages.Warning.String()):
		w = serious
	}
	of := &l.said[w]
	if of.omitted > 0 || of.size+size > maxLogged {
		of.omitted, of.lost = of.omitted+1, of.lost+size
		return false
	}
	of.size += size
	return true
}

// note writes the number of messages that were left out.
func (l *EventLog) note() {
	for w, words := range [weights][2]string{{"message", "messages"}, {"error or warning", "errors and warnings"}} {
		of := l.said[w]
		if l.said[w] = (logged{}); of.omitted > 0 {
			l.write(stages.Diagnostic{LogMessage: stages.LogMessage{
				Severity: stages.Warning,
				Message: fmt.Sprintf("%s with %s left out of the event log: it has at most %s of each kind",
					format.Plural(of.omitted, words[0], words[1]), byteSize(of.lost), byteSize(maxLogged)),
			}})
		}
	}
}

// EventLine is a line of an event log, as a Go type for its schema.
type EventLine = eventEnvelope

// eventEnvelope is one line. Exactly one of its pointers to events is not nil (protocol.md 9.1).
type eventEnvelope struct {
	Sequence       int                  `json:"sequence"`
	Timestamp      int64                `json:"timestamp"` // seconds since 1970
	Cancel         *struct{}            `json:"cancelEvent,omitempty"`
	Stdout         *stdoutEvent         `json:"stdoutEvent,omitempty"`
	Diagnostic     *diagnosticEvent     `json:"diagnosticEvent,omitempty"`
	Prelude        *preludeEvent        `json:"preludeEvent,omitempty"`
	Summary        *summaryEvent        `json:"summaryEvent,omitempty"`
	ResourcePre    *stepEvent           `json:"resourcePreEvent,omitempty"`
	ResOutputs     *stepEvent           `json:"resOutputsEvent,omitempty"`
	ResOpFailed    *failedEvent         `json:"resOpFailedEvent,omitempty"`
	StartDebugging *startDebuggingEvent `json:"startDebuggingEvent,omitempty"`
	policyEvents
}

// dropExtensions removes sluice's extensions from an event.
func (n *eventEnvelope) dropExtensions() {
	switch {
	case n.Prelude != nil:
		n.Prelude.preludeExtensions = preludeExtensions{}
	case n.ResourcePre != nil:
		n.ResourcePre.Metadata.eventExtensions = eventExtensions{}
	case n.ResOutputs != nil:
		n.ResOutputs.Metadata.eventExtensions = eventExtensions{}
	case n.ResOpFailed != nil:
		n.ResOpFailed.Metadata.eventExtensions = eventExtensions{}
	case n.Diagnostic != nil:
		n.Diagnostic.diagnosticExtensions = diagnosticExtensions{}
	case n.Summary != nil:
		n.Summary.summaryExtensions = summaryExtensions{}
	}
}

type stdoutEvent struct {
	Message string `json:"message"`
	Color   string `json:"color"`
}

type diagnosticEvent struct {
	URN       string `json:"urn,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
	Message   string `json:"message"`
	Color     string `json:"color"`
	Severity  string `json:"severity"`
	StreamID  int32  `json:"streamID,omitempty"`
	Ephemeral bool   `json:"ephemeral,omitempty"`
	diagnosticExtensions
}

func (d *diagnosticEvent) diagnostic() stages.Diagnostic {
	severity := stages.Info
	for s := stages.Debug; s <= stages.Error; s++ {
		if s.String() == d.Severity {
			severity = s
		}
	}
	return stages.Diagnostic{LogMessage: stages.LogMessage{
		Severity: severity, Message: strings.TrimSuffix(d.Message, "\n"), URN: urn.URN(d.URN), StreamID: d.StreamID, Ephemeral: d.Ephemeral,
	}, Parent: urn.URN(d.Parent), Logged: d.Logged}
}

// diagnosticExtensions are sluice's extensions of a message.
type diagnosticExtensions struct {
	Pending []pendingOperation `json:"pendingOperations,omitempty"` // the interrupted operations that the message is about
	Parent  string             `json:"parent,omitempty"`            // of a resource whose registration failed before any step
	Logged  bool               `json:"logged,omitempty"`            // by the program or a plugin; an error that is only logged fails no operation
}

// pendingOperation is a pending operation of an earlier run.
type pendingOperation struct {
	URN  string `json:"urn"`
	Type string `json:"type"` // as in states: "creating", "updating", "deleting", "reading" or "importing"
}

func pendingOperations(ops []state.Pending) []pendingOperation {
	var out []pendingOperation
	for _, op := range ops {
		out = append(out, pendingOperation{string(op.Resource.URN), string(op.Type)})
	}
	return out
}

type preludeEvent struct {
	Config map[string]string `json:"config"`
	preludeExtensions
}

// preludeExtensions are sluice's extensions of the prelude: the operation that begins.
type preludeExtensions struct {
	Operation string `json:"operation,omitempty"`
	IsPreview bool   `json:"isPreview,omitempty"`
}

type summaryEvent struct {
	MaybeCorrupt    bool              `json:"maybeCorrupt"`
	DurationSeconds int               `json:"durationSeconds"`
	ResourceChanges map[string]int    `json:"resourceChanges"`
	PolicyPacks     map[string]string `json:"PolicyPacks"`
	IsPreview       bool              `json:"isPreview"`
	Result          string            `json:"result,omitempty"`
	summaryExtensions
}

func (s *summaryEvent) summary() stages.Summary {
	out := stages.Summary{
		IsPreview: s.IsPreview, MaybeCorrupt: s.MaybeCorrupt, Duration: time.Duration(s.DurationSeconds) * time.Second,
		Changes: make(map[stages.Op]int, len(s.ResourceChanges)), Result: stages.RunResult(s.Result), Possible: s.Possible, Kept: s.Kept,
	}
	for op, n := range s.ResourceChanges {
		out.Changes[stages.Op(op)] = n
	}
	return out
}

// summaryExtensions are sluice's extensions of the summary.
type summaryExtensions struct {
	Possible map[stages.Op]int `json:"possibleChanges,omitempty"` // the number of changes that are only possible
	// Kept are the resources that the program has not declared and that stay because something failed.
	Kept []urn.URN `json:"kept,omitempty"`
}

type startDebuggingEvent struct {
	Config map[string]any `json:"config,omitempty"`
}

type stepEvent struct {
	Metadata eventMetadata `json:"metadata"`
	Planning bool          `json:"planning,omitempty"`
}

type failedEvent struct {
	Metadata eventMetadata `json:"metadata"`
	Status   int           `json:"status"`
	Steps    int           `json:"steps"`
	Awaited  bool          `json:"awaited,omitempty"` // the provider could not wait for the end of what it had begun
}

// fill sets the field of the envelope for e, and reports whether there is one.
func (n *eventEnvelope) fill(e stages.Event) bool {
	switch e := e.(type) {
	case stages.Prelude:
		config := e.Config
		if config == nil {
			config = map[string]string{}
		}
		n.Prelude = &preludeEvent{config, preludeExtensions{e.Operation, e.IsPreview}}
	case stages.StepStarted:
		n.ResourcePre = &stepEvent{newEventMetadata(e.Step, e.At), e.Planning}
	case stages.StepDone:
		s := e.Step
		if e.Outputs && s.Op == stages.OpCreateReplacement {
			s.Op = stages.OpReplace // outputs are registered for the step that is counted (steps.md 9.2)
		}
		n.ResOutputs = &stepEvent{newEventMetadata(s, e.At), e.Planning}
	case stages.StepFailed:
		n.ResOpFailed = &failedEvent{newEventMetadata(e.Step, e.At), e.Status, 0, errors.As(e.Err, new(*providers.AwaitError))}
	case stages.Diagnostic:
		n.Diagnostic = newDiagnosticEvent(e)
	case stages.Stdout:
		n.Stdout = &stdoutEvent{e.Message, "raw"}
	case stages.Summary:
		n.Summary = newSummaryEvent(e)
	case stages.Ended:
		n.Cancel = &struct{}{}
	default:
		return n.policyEvents.fill(e)
	}
	return true
}

func newDiagnosticEvent(d stages.Diagnostic) *diagnosticEvent {
	out := &diagnosticEvent{
		URN: string(d.URN), Message: d.Message, Color: "raw", Severity: d.Severity.String(),
		StreamID: d.StreamID, Ephemeral: d.Ephemeral, Prefix: severityPrefix(d.Severity),
		diagnosticExtensions: diagnosticExtensions{pendingOperations(d.Pending), string(d.Parent), d.Logged},
	}
	if d.StreamID == 0 && !strings.HasSuffix(out.Message, "\n") {
		out.Message += "\n"
	}
	return out
}

func severityPrefix(s stages.Severity) string {
	switch s {
	case stages.Error:
		return "error: "
	case stages.Warning:
		return "warning: "
	case stages.Debug:
		return "debug: "
	}
	return ""
}

func newSummaryEvent(s stages.Summary) *summaryEvent {
	out := &summaryEvent{
		MaybeCorrupt: s.MaybeCorrupt, DurationSeconds: int(math.Ceil(s.Duration.Seconds())),
		ResourceChanges: map[string]int{}, PolicyPacks: map[string]string{},
		IsPreview: s.IsPreview, Result: string(s.Result), summaryExtensions: summaryExtensions{Possible: s.Possible, Kept: s.Kept},
	}
	for _, op := range sortedOps(s.Changes) {
		out.ResourceChanges[string(op)] = s.Changes[op]
	}
	for _, p := range s.Policies {
		out.PolicyPacks[p.Name] = p.Version
	}
	return out
}
