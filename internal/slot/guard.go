package slot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Item is an item that passes through slots.
type Item interface {
	fmt.Stringer
	Identity() stages.Identity
}

// Reports are the functions that get what a guard finds.
type Reports struct {
	// Refuse records the error of a stage. If it returns an error, which is a [*stages.ReportedError], the pipeline stops. If it returns nil and
	// mayGoOn is true, the input of the stage may go on.
	Refuse func(err error, mayGoOn bool) error
	// Slow is called once for a stage that has not returned after [Patience]. The URN is that of the item, or "". Slow must not block. Nil drops it.
	Slow func(at urn.URN, text string)
	// References returns an error for a registration that refers to something that it must not refer to. Nil allows everything but itself.
	References func(stages.Located) error
}

// guard enforces the rules on one stage.
//
// Invariant: an item is in has from the moment when the stage gets it until it is emitted, or until an error is returned for it.
type guard[In, Out Item] struct {
	slot  string
	stage pipeline.Stage[In, Out]
	to    Reports
	same  func(In) Out // makes the output from an input, if the stage passes its inputs on; nil if it makes the outputs
	rule  rule[In, Out]

	mu    sync.Mutex // guards has and watch
	has   map[stages.Identity]*held[In, Out]
	watch watch
	spare sync.Pool // of *held[In, Out]

	emitting *await.RWLock // held for reading while an item is emitted; guards ended
	ended    bool
	passing  atomic.Int64 // items that wait for room in the next step
}

// held is an item that the stage has.
type held[In, Out Item] struct {
	in   In
	out  Out         // what the stage emits for it
	goal stages.Goal // of in, as it was when the stage got it
	work bool        // Run has not returned
	tick int         // when the stage got it, by the clock of the watch
}

// Guard returns a stage that wraps st and enforces the rules of the slot with this name. Each error of the stage, and an error for each broken rule,
// is reported.
func Guard[T Item](slot string, st pipeline.Stage[T, T], to Reports) pipeline.Stage[T, T] {
	return guarded(slot, st, to, slotRule[T](), func(in T) T { return in })
}

func guarded[In, Out Item](slot string, st pipeline.Stage[In, Out], to Reports, rule rule[In, Out], same func(In) Out) pipeline.Stage[In, Out] {
	g := &guard[In, Out]{
		slot: slot, stage: st, to: to, same: same, rule: rule, has: map[stages.Identity]*held[In, Out]{}, emitting: await.NewRWLock(),
	}
	out := st
	out.Run, out.Flush, out.Idle, out.Abandon = g.work, g.flush, nil, g.abandon
	if st.Flush != nil {
		out.Idle = g.idle
	}
	return out
}

// work implements Run.
func (g *guard[In, Out]) work(ctx context.Context, in In, emit pipeline.Emit[Out]) error {
	id := in.Identity()
	g.take(id, in)
	kept := false
	defer func() {
		if kept {
			g.keep(id)
		} else {
			g.free(g.drop(id)) // the pipeline rejects it
		}
	}()
	if err := call(func() error { return g.stage.Run(ctx, in, g.emit(emit)) }); err != nil {
		if err := g.failed(ctx, id, in.String(), err); err != nil || !g.holds(id) {
			return err
		}
		return g.emit(emit)(g.same(in))
	}
	if g.stage.Flush != nil || !g.holds(id) || id.IsSettled() {
		kept = g.stage.Flush != nil
		return nil
	}
	if ctx.Err() != nil {
		return pipeline.ErrStopped // which explains why it was not emitted
	}
	return g.broken(id, fmt.Sprintf("it has not emitted %s; emit each item once, or return an error for it", in))
}

// emit returns the emit function for the stage.
func (g *guard[In, Out]) emit(emit pipeline.Emit[Out]) pipeline.Emit[Out] {
	return func(v Out) error {
		g.emitting.RLock()
		defer g.emitting.RUnlock()
		id := v.Identity()
		h := g.drop(id)
		switch {
		case (h != nil || id.Enters()) && !g.ended:
			if err := g.judge(id, h, v); err != nil {
				return err
			}
			g.passing.Add(1)
			defer g.passing.Add(-1)
			return emit(v)
		case g.ended:
			return pipeline.ErrStopped
		}
		return g.broken(id, unexpected(v, id))
	}
}

// judge returns an error, and rejects the item, if the stage has changed what it may not change. h is nil for an item that the stage has made.
func (g *guard[In, Out]) judge(id stages.Identity, h *held[In, Out], v Out) error {
	if h == nil {
		if problem := unfit(&v, nil); problem != "" {
			return g.broken(id, problem)
		}
		return nil
	}
	defer g.free(h)
	h.out = v
	problem := g.rule.broken(h)
	if problem == "" {
		problem = unfit(&h.out, &h.in)
	}
	if problem == "" {
		problem = refers(&h.in, &h.out, g.to.References)
	}
	if problem == "" {
		return nil
	}
	err := g.broken(id, problem)
	if r, ok := any(h.in).(pipeline.Rejecter); ok {
		r.Reject(err)
	}
	return err
}

// idle is called when no input waits. The program might wait for an item that the stage keeps.
func (g *guard[In, Out]) idle(ctx context.Context, emit pipeline.Emit[Out]) error {
	if len(g.kept()) == 0 {
		return nil
	}
	if g.stage.Idle != nil {
		return g.letGo(ctx, "Idle", g.stage.Idle, emit)
	}
	return g.letGo(ctx, "Flush", g.stage.Flush, emit)
}

// flush implements Flush.
func (g *guard[In, Out]) flush(ctx context.Context, emit pipeline.Emit[Out]) error {
	if g.stage.Flush != nil {
		if err := g.letGo(ctx, "Flush", g.stage.Flush, emit); err != nil {
			return err // and Abandon is called
		}
	}
	g.end()
	return nil
}

// letGo calls a function of the stage that has to emit all items that the stage keeps.
func (g *guard[In, Out]) letGo(ctx context.Context, name string, f func(context.Context, pipeline.Emit[Out]) error, emit pipeline.Emit[Out]) error {
	g.aside(name)
	err := call(func() error { return f(ctx, g.emit(emit)) })
	g.aside("")
	if err != nil {
		if err := g.failed(ctx, stages.Identity{}, "its "+name, err); err != nil {
			return err
		}
		for _, in := range g.kept() {
			if err := g.emit(emit)(g.same(in)); err != nil {
				return err
			}
		}
		return nil
	}
	var first error
	for _, in := range g.kept() {
		if ctx.Err() != nil && first == nil {
			return pipeline.ErrStopped
		}
		err := g.broken(in.Identity(), fmt.Sprintf("its %s has not emitted %s, which it keeps", name, in))
		if first == nil {
			first = err
		}
	}
	return first
}

// abandon implements Abandon. The stage may have forgotten items that it keeps, and nothing may wait for them any longer.
func (g *guard[In, Out]) abandon(reason error) {
	defer g.end()
	defer func() {
		for _, in := range g.kept() {
			if r, ok := any(in).(pipeline.Rejecter); ok {
				r.Reject(reason)
			}
		}
	}()
	if g.stage.Abandon != nil {
		g.stage.Abandon(reason)
	}
}

// end waits until nothing is being emitted, and prevents more.
func (g *guard[In, Out]) end() {
	g.mu.Lock()
	g.watch.stop()
	g.mu.Unlock()
	g.emitting.Lock()
	defer g.emitting.Unlock()
	g.ended = true
}

// take records that the stage has got an item.
func (g *guard[In, Out]) take(id stages.Identity, in In) {
	h, _ := g.spare.Get().(*held[In, Out])
	if h == nil {
		h = &held[In, Out]{}
	}
	h.in, h.work = in, true
	if goal := goalOf(&h.in); goal != nil {
		h.goal = *goal
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h.tick = g.watch.tick
	g.has[id] = h
	if g.to.Slow != nil {
		g.watch.start(g.look)
	}
}

// drop removes an item and returns it, nil if the stage does not have it.
func (g *guard[In, Out]) drop(id stages.Identity) *held[In, Out] {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.has[id]
	delete(g.has, id)
	return h
}

// free makes a record of an item that the stage does not have any more ready for another one.
func (g *guard[In, Out]) free(h *held[In, Out]) {
	if h != nil {
		*h = held[In, Out]{}
		g.spare.Put(h)
	}
}

// keep records that Run has returned, and the stage may have kept the item.
func (g *guard[In, Out]) keep(id stages.Identity) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.has[id]; h != nil {
		h.work = false
	}
}

func (g *guard[In, Out]) holds(id stages.Identity) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.has[id]
	return ok
}

// kept returns the items that the stage has not emitted, in an order that does not depend on timing.
func (g *guard[In, Out]) kept() []In {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []In
	for id, h := range g.has {
		if id.IsSettled() {
			delete(g.has, id)
			continue
		}
		list = append(list, h.in)
	}
	slices.SortFunc(list, inOrder[In])
	return list
}

// broken returns the error for a broken rule.
func (g *guard[In, Out]) broken(id stages.Identity, problem string) error {
	return g.to.Refuse(&stages.SlotError{Slot: g.slot, Stage: g.stage.Name, Seq: id.Seq(), URN: id.URN(), Problem: problem}, false)
}

// call calls a function of the stage. A panic is a [*pipeline.PanicError].
func call(f func() error) (err error) {
	pipeline.Attempt(f, func(e error) { err = e })
	return err
}

// failed reports the error of a stage. It returns nil if the inputs of the stage may go on, which they may not after a panic. The end of the run is no
// error of the stage.
func (g *guard[In, Out]) failed(ctx context.Context, id stages.Identity, item string, err error) error {
	if panicked, is := err.(*pipeline.PanicError); is {
		return cmp.Or(g.to.Refuse(g.named(id, item, panicked), false), err)
	}
	if ends(ctx, err) {
		return err
	}
	return g.to.Refuse(g.named(id, item, err), g.same != nil)
}

// named returns the error of a stage, with the stage and the item if it names none.
func (g *guard[In, Out]) named(id stages.Identity, item string, err error) error {
	if _, refused := err.(*stages.RefusedError); refused {
		return err
	}
	if several, is := err.(interface{ Unwrap() []error }); is {
		var all []error
		for _, part := range several.Unwrap() {
			all = append(all, g.named(id, item, part))
		}
		return errors.Join(all...)
	}
	return &stages.StageFailedError{Slot: g.slot, Stage: g.stage.Name, Seq: id.Seq(), URN: id.URN(), Item: item, Err: err}
}

// aside records that a function runs instead of Run; "" for none.
func (g *guard[In, Out]) aside(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watch.aside, g.watch.since = name, g.watch.tick
	if name != "" && g.to.Slow != nil {
		g.watch.start(g.look)
	}
}

// look reports the stage if it has not returned for too long. The end of the stage waits for the report.
func (g *guard[In, Out]) look() {
	g.emitting.RLock()
	defer g.emitting.RUnlock()
	if at, what := g.late(); what != "" {
		g.to.Slow(at, fmt.Sprintf("stage %q in the slot %s: %s for %v; the operation waits for it", g.stage.Name, g.slot, what, Patience))
	}
}

// late returns what the stage is late with, once, and the URN of the item; "" for nothing. Of several items, it is the first.
func (g *guard[In, Out]) late() (at urn.URN, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watch.runs = false
	if g.watch.over {
		return "", ""
	}
	g.watch.tick++
	var late *held[In, Out]
	works := g.watch.aside != ""
	for _, h := range g.has {
		works = works || h.work
		if h.work && g.watch.isLate(h.tick) && (late == nil || inOrder(h.in, late.in) < 0) {
			late = h
		}
	}
	switch {
	case g.passing.Load() > 0: // it may wait for the next stage
	case g.watch.aside != "" && g.watch.isLate(g.watch.since):
		g.watch.over = true
		return "", fmt.Sprintf("its %s has not returned", g.watch.aside)
	case late != nil:
		g.watch.over = true
		return late.in.Identity().URN(), fmt.Sprintf("it has not returned from %s", late.in)
	}
	if works {
		g.watch.start(g.look)
	}
	return "", ""
}
