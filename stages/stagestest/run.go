package stagestest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Item is an item of a slot: [stages.Registered] to [stages.Executed], [stages.Deleting] and [stages.Deleted].
type Item interface {
	fmt.Stringer
	Identity() stages.Identity
}

// Stage makes a stage, as the argument of the Insert method of a slot does.
type Stage[T Item] = func(stages.Operation) pipeline.Stage[T, T]

// Replacement makes a stage in the place of a standard one, as the fields of the engine's Replace do.
type Replacement[In, Out Item] = func(op stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out]

// Result is the result of running a stage.
type Result[T Item] struct {
	Emitted []T // in the order in which they came out
	// Refused are the errors of the stage that are about an item, in the order in which they came.
	Refused []error
	// Broken are the rules that the stage has broken.
	Broken []*stages.SlotError
	// Diagnosed are the messages of the stage.
	Diagnosed []stages.LogMessage
	// Err is the error that ended the items early: the first refusal of an update, a broken rule, a panic, or the cause of a
	// context that has ended.
	Err error
}

// outcome describes the results for items, without their order.
func (r Result[T]) outcome() string {
	var lines []string
	for _, item := range r.Emitted {
		lines = append(lines, "emitted "+item.String())
	}
	for _, err := range r.Refused {
		lines = append(lines, "refused: "+err.Error())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Run makes the stage as an engine does for a preview, if info.DryRun is set, or an update. It passes the items to it, in their
// order and without a pause, and returns when the stage has ended. As in an engine, a refusal stops an update, and a preview goes
// on with the item. Stack and Project are those of the items unless info has others.
func Run[T Item](ctx context.Context, info stages.RunInfo, newStage Stage[T], items ...T) Result[T] {
	return inSlot(info, newStage).do(ctx, together, items)
}

// RunReplacement is [Run] for a stage in the place of a standard one. standard returns the result of the standard stage for an
// item; its errors are those of the standard stage. The workers of the stage call it concurrently. A refusal stops a preview, too.
func RunReplacement[In, Out Item](
	ctx context.Context, info stages.RunInfo, newStage Replacement[In, Out], standard func(In) (Out, error), items ...In,
) Result[Out] {
	return inPlace(info, newStage, standard).do(ctx, together, items)
}

// pace defines how items arrive.
type pace int

const (
	together pace = iota // as fast as the stage takes them
	single               // each when the program waits for the items that the stage keeps
	crowded              // from several goroutines, in any order
)

// run is one operation of one stage.
type run[In, Out Item] struct {
	operation stages.Operation
	place     string // the name of the slot, or of the standard stage that is replaced
	// guarded returns the stage as it is in an engine. It is called for each group of items.
	guarded func() (pipeline.Stage[In, Out], error)
	over    []*await.Event // by item: it has come out
	index   map[stages.Identity]int

	mu     sync.Mutex // guards the rest
	result Result[Out]
	seen   func()            // is called when an item has come out; nil for nothing
	late   func(text string) // is called when the stage does not return; nil for nothing
}

// inSlot returns a run of a stage in a slot.
func inSlot[T Item](info stages.RunInfo, newStage Stage[T]) *run[T, T] {
	r := newRun[T, T](info, slotOf[T]())
	made, err := slot.Make(r.place, r.operation, []slot.Maker[T]{func(op stages.Operation) pipeline.Stage[T, T] { return r.observed(newStage(op)) }})
	r.guarded = func() (st pipeline.Stage[T, T], _ error) {
		if err != nil {
			return st, err
		}
		return slot.Guard(r.place, made[0], r.reports()), nil
	}
	return r
}

// inPlace returns a run of a stage in the place of a standard one.
func inPlace[In, Out Item](info stages.RunInfo, newStage Replacement[In, Out], standard func(In) (Out, error)) *run[In, Out] {
	r := newRun[In, Out](info, placeOf[Out]())
	r.guarded = func() (pipeline.Stage[In, Out], error) {
		own := pipeline.Stage[In, Out]{Name: r.place, Workers: pipeline.Unbounded, Run: func(_ context.Context, in In, emit pipeline.Emit[Out]) error {
			out, err := standard(in)
			if err != nil {
				return err
			}
			return emit(out)
		}}
		replacer := func(op stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
			return r.observed(newStage(op, standard))
		}
		return slot.Replace(r.place, r.operation, own, replacer, r.reports())
	}
	return r
}

func newRun[In, Out Item](info stages.RunInfo, place string) *run[In, Out] {
	r := &run[In, Out]{place: place, index: map[stages.Identity]int{}}
	if info.Stack == "" {
		info.Stack, info.Project = Stack, Project
	}
	name := "update"
	if info.DryRun {
		name = "preview"
	}
	r.operation = stages.NewOperation(name, stages.ModeUpdate, info, r.diagnose)
	return r
}

func (r *run[In, Out]) diagnose(at urn.URN, s stages.Severity, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Diagnosed = append(r.result.Diagnosed, stages.LogMessage{Severity: s, URN: at, Message: text})
}

func (r *run[In, Out]) reports() slot.Reports { return slot.Reports{Refuse: r.refuse, Slow: r.slow} }

// slow handles a stage that does not return.
func (r *run[In, Out]) slow(at urn.URN, text string) {
	r.diagnose(at, stages.Info, text)
	if r.late != nil {
		r.late(text)
	}
}

// observed returns a stage that adds rules which an engine does not enforce, because only the stage's author is interested in them: an input is emitted
// or refused, and not both.
func (r *run[In, Out]) observed(st pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
	own := st.Run
	if own == nil {
		return st // which cannot be used
	}
	st.Run = func(ctx context.Context, in In, emit pipeline.Emit[Out]) error {
		var emitted atomic.Bool
		err := pipeline.Readable(own(ctx, in, func(v Out) error {
			err := emit(v)
			if err == nil && v.Identity() == in.Identity() {
				emitted.Store(true)
			}
			return err
		}))
		if err != nil && emitted.Load() && ctx.Err() == nil && !stages.IsReported(err) {
			r.breaks(&stages.SlotError{
				Slot: r.place, Stage: st.Name, Seq: in.Identity().Seq(), URN: in.Identity().URN(),
				Problem: fmt.Sprintf("it emitted %s, and then returned an error for it: %v; do one of the two", in, err),
			})
		}
		return err
	}
	return st
}

func (r *run[In, Out]) breaks(broken *stages.SlotError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Broken = append(r.result.Broken, broken)
}

// refuse handles the errors of stages as an engine does.
func (r *run[In, Out]) refuse(err error, mayGoOn bool) error {
	if broken := (*stages.SlotError)(nil); errors.As(err, &broken) {
		r.breaks(broken)
		return &stages.ReportedError{Err: err}
	}
	if failed := (*stages.StageFailedError)(nil); errors.As(err, &failed) && errors.Is(failed.Err, pipeline.ErrStopped) {
		r.breaks(&stages.SlotError{
			Slot: failed.Slot, Stage: failed.Stage, Seq: failed.Seq, URN: failed.URN,
			Problem: fmt.Sprintf("it says that the pipeline has stopped, which is not so: %s: %v; return pipeline.ErrStopped only if emit has returned it", failed.Item, failed.Err),
		})
		return &stages.ReportedError{Err: err}
	}
	if errors.As(err, new(*pipeline.PanicError)) {
		return &stages.ReportedError{Err: err} // no refusal, but a mistake
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Refused = append(r.result.Refused, err)
	if mayGoOn && r.operation.Info.DryRun {
		return nil
	}
	return &stages.ReportedError{Err: err}
}

func (r *run[In, Out]) do(ctx context.Context, p pace, items []In) Result[Out] {
	guarded, err := r.guarded()
	if err != nil {
		return Result[Out]{Err: err}
	}
	r.over = nil
	clear(r.index)
	for i, item := range items {
		r.over = append(r.over, await.NewEvent())
		r.index[item.Identity()] = i
	}
	if p == together || isGrouped[In]() {
		guarded.Idle = nil // something always waits, or it is a group of deletes
	}
	from := pipeline.From("items", 0, func(ctx context.Context, emit pipeline.Emit[In]) error { return r.send(ctx, p, items, emit) })
	err = pipeline.Run(ctx, pipeline.Via(from, guarded), func(_ context.Context, item Out) error {
		r.out(item)
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Err = err
	return r.result
}

func (r *run[In, Out]) out(item Out) {
	r.mu.Lock()
	r.result.Emitted = append(r.result.Emitted, item)
	seen := r.seen
	r.mu.Unlock()
	if i, known := r.index[item.Identity()]; known {
		r.over[i].Fire()
	}
	if registered, ok := any(item).(stages.Registered); ok {
		registered.Answer(&stages.RegisterReply{}) // and nobody waits for it any more
	}
	if seen != nil {
		seen()
	}
}

func (r *run[In, Out]) send(ctx context.Context, p pace, items []In, emit pipeline.Emit[In]) error {
	if p == crowded {
		var senders conc.WaitGroup
		for _, item := range items {
			senders.Go(func() { _ = emit(item) }) // an error only means that the run is over
		}
		senders.Wait()
		return nil
	}
	for i, item := range items {
		if err := emit(item); err != nil {
			return err
		}
		if p == single {
			r.waitFor(ctx, i, item)
		}
	}
	return nil
}

// waitFor waits until an item has come out, or may leave the pipeline.
func (r *run[In, Out]) waitFor(ctx context.Context, i int, item In) {
	if registered, ok := any(item).(stages.Registered); ok {
		_, _ = registered.Wait(ctx)
		return
	}
	_ = r.over[i].Wait(ctx)
}

// isGrouped reports whether items pass the slot in groups: a stage may keep them until all of a group have come.
func isGrouped[T Item]() bool { return slotOf[T]() == "Deleting" }

// slotOf names the slot for items of a type.
func slotOf[T Item]() string {
	var none T
	switch any(none).(type) {
	case stages.Registered:
		return "Registered"
	case stages.Located:
		return "Located"
	case stages.Checked:
		return "Checked"
	case stages.Analyzed:
		return "Analyzed"
	case stages.Diffed:
		return "Diffed"
	case stages.Built:
		return "Built"
	case stages.Executed:
		return "Executed"
	case stages.Deleting:
		return "Deleting"
	}
	return "Deleted"
}

// placeOf names the place in [Replacement] whose standard stage makes items of a type.
func placeOf[Out Item]() string {
	var none Out
	switch any(none).(type) {
	case stages.Located:
		return "Import"
	case stages.Checked:
		return "Check"
	case stages.Analyzed:
		return "Analyze"
	}
	return "Diff"
}
