package display

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sluice-iac/sluice/stages"
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
	events, read := 0, eventReader{renamedCopies{}, f}
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return fmt.Errorf("read the event log: %w", err)
		}
		if len(line) > 0 && line[0] == '{' {
			switch known, err := read.event(ctx, line); {
			case err != nil && !ended:
				return fmt.Errorf("line %d of the event log: %w", number, err)
			case known:
				events++
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

// ReadEvents calls f for events, as [ReadEventLog] does. next returns one after the other, each a JSON object, and false after the last one.
func ReadEvents(ctx context.Context, next func() (event []byte, more bool, err error), f func(LoggedEvent)) error {
	read := eventReader{renamedCopies{}, f}
	for {
		text, more, err := next()
		if err != nil || !more {
			return err
		}
		if _, err := read.event(ctx, text); err != nil {
			return fmt.Errorf("an event cannot be read: %w", err)
		}
	}
}

// eventReader passes on events of one log, in their order.
type eventReader struct {
	names renamedCopies
	pass  func(LoggedEvent)
}

// event passes on an event, and reports whether it is of a known kind.
func (r eventReader) event(ctx context.Context, text []byte) (known bool, err error) {
	e, err := readEvent(ctx, text)
	if err != nil || e.Event == nil {
		return false, err
	}
	e.Event = r.names.pair(e.Event)
	r.pass(e)
	return true, nil
}

// renamedCopies has the current URNs of renamed resources, by the copy that each had.
type renamedCopies map[[2]string]urn.URN

// pair adds the current URN to a step that removes the old object of a renamed resource. Pulumi's logs lack it.
func (r renamedCopies) pair(e stages.Event) stages.Event {
	switch e := e.(type) {
	case stages.StepStarted:
		r.complete(&e.Step)
		return e
	case stages.StepDone:
		r.complete(&e.Step)
		return e
	case stages.StepFailed:
		r.complete(&e.Step)
		return e
	}
	return e
}

func (r renamedCopies) complete(s *stages.StepInfo) {
	if s.Old == nil {
		return
	}
	of := [2]string{string(s.Old.URN), s.Old.ID}
	switch {
	case s.FormerURN() != "":
		r[of] = s.URN
	case s.CurrentURN == "" && stages.Removes(s.Op):
		s.CurrentURN = r[of]
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

// loggedSecrets decrypts the ciphertext in events, which only stands for a secret.
type loggedSecrets struct{}

func (loggedSecrets) Decrypt(context.Context, string) (string, error) {
	return `"` + maskedText + `"`, nil
}
