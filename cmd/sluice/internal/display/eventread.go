package display

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// LoggedEvent is one event of an event log.
type LoggedEvent struct {
	stages.Event
	At time.Time // when it was written, in whole seconds
}

// ReadEventLog reads the lines of an [EventLog] and calls f for each event. The events lack whatever a log does not record: for example, a
// secret is read as a secret with another content. Lines that begin no JSON object are skipped, as the log may be the standard output of a
// command. So is an unfinished last line, since the command may have been killed.
func ReadEventLog(ctx context.Context, in io.Reader, f func(LoggedEvent)) error {
	r := bufio.NewReaderSize(in, 1<<16)
	events := 0
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read the event log: %w", err)
		}
		if len(line) > 0 && line[0] == '{' {
			switch e, err := readEvent(ctx, line); {
			case err != nil && !ended:
				return fmt.Errorf("line %d of the event log: %w", number, err)
			case err == nil && e.Event != nil:
				events++
				f(e)
			}
		}
		if ended && events == 0 {
			return errors.New("there are no events in it; --event-log FILE writes some")
		}
		if ended {
			return nil
		}
	}
}

// readEvent reads a line. The event is nil if displays have no event of that kind.
func readEvent(ctx context.Context, line []byte) (LoggedEvent, error) {
	var n eventEnvelope
	if err := json.Unmarshal(line, &n); err != nil {
		return LoggedEvent{}, err
	}
	out := LoggedEvent{At: time.Unix(n.Timestamp, 0).UTC()}
	var err error
	switch {
	case n.Prelude != nil:
		out.Event = stages.Prelude{Operation: n.Prelude.Operation, IsPreview: n.Prelude.IsPreview, Config: n.Prelude.Config}
	case n.ResourcePre != nil:
		var s stages.StepInfo
		s, err = n.ResourcePre.Metadata.step(ctx)
		out.Event = stages.StepStarted{Step: s, Planning: n.ResourcePre.Planning, At: n.ResourcePre.Metadata.time(out.At)}
	case n.ResOutputs != nil:
		var s stages.StepInfo
		s, err = n.ResOutputs.Metadata.step(ctx)
		out.Event = stages.StepDone{Step: s, Planning: n.ResOutputs.Planning, At: n.ResOutputs.Metadata.time(out.At)}
	case n.ResOpFailed != nil:
		var s stages.StepInfo
		s, err = n.ResOpFailed.Metadata.step(ctx)
		out.Event = stages.StepFailed{Step: s, Status: n.ResOpFailed.Status, At: n.ResOpFailed.Metadata.time(out.At)}
	case n.Diagnostic != nil:
		out.Event = n.Diagnostic.diagnostic()
	case n.Stdout != nil:
		out.Event = stages.Stdout{Message: n.Stdout.Message}
	case n.Summary != nil:
		out.Event = n.Summary.summary()
	case n.Policy != nil:
		out.Event = n.Policy.violation()
	case n.Cancel != nil:
		out.Event = stages.Ended{}
	}
	return out, err
}

func (m *eventMetadata) time(written time.Time) time.Time {
	if m.At.IsZero() {
		return written
	}
	return m.At
}

func (m *eventMetadata) step(ctx context.Context) (stages.StepInfo, error) {
	s := stages.StepInfo{
		Op: stages.Op(m.Op), URN: urn.URN(m.URN), Type: urn.Type(m.Type), Keys: m.Keys, Diffs: m.Diffs, Provider: m.Provider,
		Internal: urn.URN(m.URN).IsDefaultProvider(),
	}
	if !s.URN.IsValid() {
		return s, fmt.Errorf("%q is not a URN", m.URN)
	}
	if m.Why != nil {
		s.Reason = stages.Reason{Kind: m.Why.Kind, Properties: m.Why.Properties, Cause: m.Why.Cause, By: m.Why.By}
	}
	s.Reason.Possible = m.Possible
	if m.DetailedDiff != nil {
		s.DetailedDiff = make(map[string]providers.PropertyDiff, len(m.DetailedDiff))
		for path, d := range m.DetailedDiff {
			s.DetailedDiff[path] = providers.PropertyDiff{Kind: diffKind(d.Kind), InputDiff: d.InputDiff}
		}
	}
	var err error
	if s.Old, err = m.state(ctx, m.Old); err != nil {
		return s, err
	}
	s.New, err = m.state(ctx, m.New)
	return s, err
}

// diffKind is the inverse of [providers.DiffKind.String].
func diffKind(text string) providers.DiffKind {
	for k := providers.DiffAdd; k <= providers.DiffUpdateReplace; k++ {
		if k.String() == text {
			return k
		}
	}
	return providers.DiffUpdate
}

func (m *eventMetadata) state(ctx context.Context, s *eventState) (*state.Resource, error) {
	if s == nil {
		return nil, nil
	}
	r := &state.Resource{
		Type: urn.Type(s.Type), URN: urn.URN(s.URN), Custom: s.Custom, Delete: s.Delete, ID: s.ID, Parent: urn.URN(s.Parent), Protect: s.Protect,
		Taint: s.Taint, External: s.External, RetainOnDelete: s.RetainOnDelete, Provider: s.Provider, InitErrors: s.InitErrors,
		HideDiff: s.HideDiffs, Dependencies: m.Dependencies, PropertyDependencies: m.PropertyDependencies, SourcePosition: m.SourcePosition,
	}
	var err error
	if r.Inputs, err = loggedMap(ctx, s.Inputs); err != nil {
		return nil, fmt.Errorf("the inputs of %s: %w", s.URN, err)
	}
	if r.Outputs, err = loggedMap(ctx, s.Outputs); err != nil {
		return nil, fmt.Errorf("the outputs of %s: %w", s.URN, err)
	}
	return r, nil
}

// loggedMap is the inverse of [jsonMap], except for secrets.
func loggedMap(ctx context.Context, m map[string]any) (property.Map, error) {
	if len(m) == 0 {
		return property.Map{}, nil
	}
	v, err := property.FromJSON(ctx, m, property.StateDecodeOptions{Decrypter: loggedSecrets{}})
	return v.AsMap(), err
}

// loggedSecrets decrypts the ciphertext in events, which only stands for a secret.
type loggedSecrets struct{}

func (loggedSecrets) Decrypt(context.Context, string) (string, error) {
	return `"` + maskedText + `"`, nil
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
	}}
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

func (p *policyEvent) violation() stages.PolicyViolation {
	level, _ := stages.ParseEnforcementLevel(p.Level)
	return stages.PolicyViolation{
		Policy: stages.PolicyName{Pack: p.Pack, Version: p.Version, Name: p.Name}, URN: urn.URN(p.URN),
		Message: strings.TrimSuffix(p.Message, "\n"), Level: level, Severity: p.Severity,
	}
}
