package slot

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// Item is what passes through slots.
type Item interface {
	fmt.Stringer
	Identity() stages.Identity
}

// guard holds a stage to the rules of its slot.
//
// Invariant: an item is in has from the moment when the stage gets it until it is emitted, or until an error is returned for it.
type guard[T Item] struct {
	slot   string
	stage  pipeline.Stage[T, T]
	refuse func(error) error

	mu  sync.Mutex // guards has
	has map[stages.Identity]T

	emitting sync.RWMutex // held for reading while an item is handed on; guards ended
	ended    bool
}

// Guard returns a stage that does what st does, and keeps to the rules of the slot with this name. refuse is called with each error of the
// stage, those that break a rule included; it stops the run, and returns the error for the pipeline.
func Guard[T Item](slot string, st pipeline.Stage[T, T], refuse func(error) error) pipeline.Stage[T, T] {
	g := &guard[T]{slot: slot, stage: st, refuse: refuse, has: map[stages.Identity]T{}}
	out := st
	out.Run, out.Flush, out.Idle, out.Abandon = g.work, g.flush, nil, g.abandon
	if st.Flush != nil {
		out.Idle = g.idle
	}
	return out
}

// work is Run.
func (g *guard[T]) work(ctx context.Context, in T, emit pipeline.Emit[T]) error {
	id := in.Identity()
	g.take(id, in)
	done := false
	defer func() {
		if !done {
			g.drop(id) // the pipeline rejects it
		}
	}()
	if err := g.stage.Run(ctx, in, g.emit(emit)); err != nil {
		return g.refuse(err)
	}
	if g.stage.Flush != nil || !g.holds(id) || id.IsSettled() {
		done = g.stage.Flush != nil
		return nil
	}
	if ctx.Err() != nil {
		return pipeline.ErrStopped // that is why it was not emitted
	}
	return g.refuse(g.problem(id, "it has not emitted %s; emit each item once, or return an error for it", in))
}

// emit returns what the stage emits through.
func (g *guard[T]) emit(emit pipeline.Emit[T]) pipeline.Emit[T] {
	return func(v T) error {
		g.emitting.RLock()
		defer g.emitting.RUnlock()
		id := v.Identity()
		switch {
		case g.drop(id) && !g.ended:
			return emit(v)
		case g.ended:
			return pipeline.ErrStopped
		case !id.Owes() && id.Seq() == 0:
			return g.refuse(g.problem(id, "it emitted %s without its PendingReply; emit what came in, changed", v))
		}
		return g.refuse(g.problem(id, "it emitted %s, which it has emitted before or never got; emit each item once, with the reply, "+
			"the number and the URN that it came with", v))
	}
}

// idle is called when no input waits. What is kept then might be what the program waits for.
func (g *guard[T]) idle(ctx context.Context, emit pipeline.Emit[T]) error {
	if len(g.kept()) == 0 {
		return nil
	}
	if g.stage.Idle != nil {
		return g.letGo(ctx, "Idle", g.stage.Idle, emit)
	}
	return g.letGo(ctx, "Flush", g.stage.Flush, emit)
}

// flush is Flush.
func (g *guard[T]) flush(ctx context.Context, emit pipeline.Emit[T]) error {
	if g.stage.Flush != nil {
		if err := g.letGo(ctx, "Flush", g.stage.Flush, emit); err != nil {
			return err // and Abandon is called
		}
	}
	g.end()
	return nil
}

// letGo calls a function of the stage, which has to emit all that the stage keeps.
func (g *guard[T]) letGo(ctx context.Context, name string, f func(context.Context, pipeline.Emit[T]) error, emit pipeline.Emit[T]) error {
	if err := f(ctx, g.emit(emit)); err != nil {
		return g.refuse(err)
	}
	var first error
	for _, in := range g.kept() {
		if ctx.Err() != nil && first == nil {
			return pipeline.ErrStopped
		}
		err := g.refuse(g.problem(in.Identity(), "its "+name+" has not emitted %s, which it keeps", in))
		if first == nil {
			first = err
		}
	}
	return first
}

// abandon is Abandon. The stage may have forgotten what it keeps; whoever waits for it must not wait on.
func (g *guard[T]) abandon(reason error) {
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
func (g *guard[T]) end() {
	g.emitting.Lock()
	defer g.emitting.Unlock()
	g.ended = true
}

func (g *guard[T]) take(id stages.Identity, in T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.has[id] = in
}

// drop reports whether the stage had the item.
func (g *guard[T]) drop(id stages.Identity) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.has[id]
	delete(g.has, id)
	return ok
}

func (g *guard[T]) holds(id stages.Identity) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.has[id]
	return ok
}

// kept returns what the stage has and owes, in an order that does not depend on timing.
func (g *guard[T]) kept() []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.has {
		if id.IsSettled() {
			delete(g.has, id)
		}
	}
	return slices.SortedFunc(maps.Values(g.has), func(a, b T) int {
		return cmp.Or(cmp.Compare(a.Identity().Seq(), b.Identity().Seq()), cmp.Compare(a.String(), b.String()))
	})
}

func (g *guard[T]) problem(id stages.Identity, format string, in T) error {
	return &stages.SlotError{
		Slot: g.slot, Stage: g.stage.Name, Seq: id.Seq(), URN: id.URN(), Problem: fmt.Sprintf(format, in),
	}
}
