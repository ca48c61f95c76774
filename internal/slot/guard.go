package slot

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
)

// Item is an item that passes through slots.
type Item interface {
	fmt.Stringer
	Identity() stages.Identity
}

// Refuse records the error of a stage. If it returns an error, the pipeline stops. If it returns nil and mayGoOn is true, the input of the stage
// may go on.
type Refuse func(err error, mayGoOn bool) error

// guard enforces the rules on one stage.
//
// Invariant: an item is in has from the moment when the stage gets it until it is emitted, or until an error is returned for it.
type guard[In, Out Item] struct {
	slot   string
	stage  pipeline.Stage[In, Out]
	refuse Refuse
	same   func(In) Out // makes the output from an input, if the stage passes its inputs on; nil if it makes the outputs

	mu  sync.Mutex // guards has
	has map[stages.Identity]In

	emitting *await.RWLock // held for reading while an item is emitted; guards ended
	ended    bool
}

// Guard returns a stage that wraps st and enforces the rules of the slot with this name. refuse is called with each error of the stage, and with
// an error for each broken rule.
func Guard[T Item](slot string, st pipeline.Stage[T, T], refuse Refuse) pipeline.Stage[T, T] {
	return guarded(slot, st, refuse, func(in T) T { return in })
}

func guarded[In, Out Item](slot string, st pipeline.Stage[In, Out], refuse Refuse, same func(In) Out) pipeline.Stage[In, Out] {
	g := &guard[In, Out]{slot: slot, stage: st, refuse: refuse, same: same, has: map[stages.Identity]In{}, emitting: await.NewRWLock()}
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
	done := false
	defer func() {
		if !done {
			g.drop(id) // the pipeline rejects it
		}
	}()
	if err := g.stage.Run(ctx, in, g.emit(emit)); err != nil {
		if err := g.refuse(err, g.same != nil); err != nil || !g.holds(id) {
			return err
		}
		return g.emit(emit)(g.same(in))
	}
	if g.stage.Flush != nil || !g.holds(id) || id.IsSettled() {
		done = g.stage.Flush != nil
		return nil
	}
	if ctx.Err() != nil {
		return pipeline.ErrStopped // which explains why it was not emitted
	}
	return g.broken(id, "it has not emitted %s; emit each item once, or return an error for it", in)
}

// emit returns the emit function for the stage.
func (g *guard[In, Out]) emit(emit pipeline.Emit[Out]) pipeline.Emit[Out] {
	return func(v Out) error {
		g.emitting.RLock()
		defer g.emitting.RUnlock()
		id := v.Identity()
		switch {
		case (g.drop(id) || id.Enters()) && !g.ended:
			return emit(v)
		case g.ended:
			return pipeline.ErrStopped
		case !id.Owes() && id.Seq() == 0:
			return g.broken(id, "it emitted %s without its PendingReply; emit what came in, changed", v)
		}
		return g.broken(id, "it emitted %s, which it has emitted before or never got; emit each item once, with the reply, "+
			"the number and the URN that it came with", v)
	}
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
	if err := f(ctx, g.emit(emit)); err != nil {
		if err := g.refuse(err, g.same != nil); err != nil {
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
		err := g.broken(in.Identity(), "its "+name+" has not emitted %s, which it keeps", in)
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
	g.emitting.Lock()
	defer g.emitting.Unlock()
	g.ended = true
}

func (g *guard[In, Out]) take(id stages.Identity, in In) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.has[id] = in
}

// drop removes an item, and reports whether the stage had it.
func (g *guard[In, Out]) drop(id stages.Identity) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.has[id]
	delete(g.has, id)
	return ok
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
	for id := range g.has {
		if id.IsSettled() {
			delete(g.has, id)
		}
	}
	return slices.SortedFunc(maps.Values(g.has), func(a, b In) int {
		return cmp.Or(cmp.Compare(a.Identity().Seq(), b.Identity().Seq()), cmp.Compare(a.String(), b.String()))
	})
}

// broken returns the error for a broken rule.
func (g *guard[In, Out]) broken(id stages.Identity, format string, item fmt.Stringer) error {
	return g.refuse(&stages.SlotError{
		Slot: g.slot, Stage: g.stage.Name, Seq: id.Seq(), URN: id.URN(), Problem: fmt.Sprintf(format, item),
	}, false)
}
