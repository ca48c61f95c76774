package reports

import (
	"context"
	"io"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend"
)

// ReadEventLog makes the report of the last preview or operation in an event log. The log of a killed operation is that of an
// interrupted one.
func ReadEventLog(ctx context.Context, in io.Reader) (*Document, error) {
	b := NewBuilder(Options{Limits: DefaultLimits()})
	var last time.Time
	over := false
	err := display.ReadEventLog(ctx, in, func(e display.LoggedEvent) {
		if _, end := e.Event.(stages.Ended); over && end {
			return // a log may repeat it
		}
		if over { // the operation after its preview
			b, over = NewBuilder(Options{Limits: DefaultLimits()}), false
		}
		o := &b.o.Operation
		if o.Began.IsZero() {
			o.Began = e.At
		}
		switch e := e.Event.(type) {
		case stages.Prelude:
			if o.Kind = e.Operation; o.Kind == "preview" { // a log does not contain the previewed operation
				o.Kind = ""
			}
			b.preview = b.preview || e.IsPreview
		case stages.StepStarted:
			b.learn(e.Step.URN, e.Planning)
		case stages.Summary:
			b.preview = b.preview || e.IsPreview
		case stages.Ended:
			over = true
		}
		b.Observe(e.Event)
		if last = e.At; b.last.After(last) {
			last = b.last
		}
	})
	if err != nil {
		return nil, err
	}
	b.o.Operation.Preview = b.preview
	b.o.Operation.Ended = last
	return b.Document(display.Ending{}, last), nil
}

// OfDecisions makes the report of an operation from the decisions of `sluice why`: without times, messages and outputs. Aliases are
// in the language of the runtime.
func OfDecisions(log *why.Log, runtime string) *Document {
	b := NewBuilder(Options{Limits: DefaultLimits(), Runtime: runtime, Operation: Operation{
		Kind: log.Operation, Preview: log.Preview, Project: log.Project, Stack: log.Stack, Began: log.Began.UTC(), Ended: log.Ended.UTC(),
	}})
	return b.Document(display.Ending{Log: log}, log.Ended)
}

// OfHistory makes the report of an entry of the history of a stack: its counts.
func OfHistory(project, stack string, u backend.Update) *Document {
	d := NewBuilder(Options{Limits: DefaultLimits(), Operation: Operation{
		Kind: u.Kind, Project: project, Stack: stack, Message: u.Message, Began: u.Started().UTC(), Ended: u.Ended().UTC(),
	}}).Document(display.Ending{}, u.Ended())
	d.Operation.Result = Result(u.Result)
	for op, n := range u.ResourceChanges {
		d.Summary.Changes[stages.Op(op)] = n
	}
	d.Summary.Unchanged = d.Summary.Changes[stages.OpSame]
	return d
}
