package simulate

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const (
	stagedName = "staged"
	refusal    = "a stage refuses it"
)

// slots records the items of an attempt's stages. Its methods may be called from many goroutines.
type slots struct {
	attempt *attempt

	mu      sync.Mutex // guards the rest
	seen    map[string]bool
	refused map[urn.URN]bool
	// deletes counts the stages that each delete has passed, by the URN and ID of the object.
	deletes map[object]int
}

// object is an object to delete.
type object struct {
	urn urn.URN
	id  string
}

// engine returns an engine with the stages of the operation.
func (a *attempt) engine(o sluice.Options, s Schedule) *sluice.Engine {
	e := sluice.Standard(o)
	if len(a.op.Stages) == 0 {
		return e
	}
	a.slots = &slots{attempt: a, seen: map[string]bool{}, refused: map[urn.URN]bool{}, deletes: map[object]int{}}
	for i, st := range a.op.Stages {
		at := inserted{Stage: st, number: i, slots: a.slots, pause: a.pauses(s)}
		switch st.In {
		case Registered:
			e.Registered.Insert(func(stages.Operation) pipeline.Stage[stages.Registered, stages.Registered] { return at.registered() })
		case Located:
			insert(&e.Located, at, func(l stages.Located) stages.Located { return l })
		case Checked:
			insert(&e.Checked, at, func(c stages.Checked) stages.Located { return c.Located })
		case Analyzed:
			insert(&e.Analyzed, at, func(x stages.Analyzed) stages.Located { return x.Located })
		case Diffed:
			insert(&e.Diffed, at, func(d stages.Diffed) stages.Located { return d.Located })
		case Built:
			insert(&e.Built, at, func(b stages.Built) stages.Located { return b.Located })
		case Executed:
			insert(&e.Executed, at, func(x stages.Executed) stages.Located { return stages.Located{Seq: x.Seq, URN: x.URN} })
		case Deleting:
			e.Deleting.Insert(func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] { return at.deleting() })
		case Deleted:
			e.Deleted.Insert(func(stages.Operation) pipeline.Stage[stages.Deleted, stages.Deleted] { return at.deleted() })
		case Standard:
			e.Replace = sluice.Replace{
				Import: around[stages.Located, stages.Located](at, e.Replace.Import), Check: around[stages.Located, stages.Checked](at, e.Replace.Check),
				Analyze: around[stages.Checked, stages.Analyzed](at, e.Replace.Analyze), Diff: around[stages.Analyzed, stages.Diffed](at, e.Replace.Diff),
			}
		}
	}
	return e
}

// inserted is a stage in a slot.
type inserted struct {
	Stage
	number int
	slots  *slots
	pause  func()
}

func (i inserted) concerns(name string) bool { return i.Name == "" || i.Name == name }

func insert[T any](slot *sluice.Slot[T], i inserted, located func(T) stages.Located) {
	slot.Insert(func(stages.Operation) pipeline.Stage[T, T] {
		return pipeline.Stage[T, T]{Name: fmt.Sprint("stage ", i.number), Workers: i.Workers, Run: func(_ context.Context, in T, emit pipeline.Emit[T]) error {
			l := located(in)
			i.slots.passes(i.number, l)
			switch {
			case !i.concerns(l.URN.Name()):
			case i.Do == Delay:
				i.pause()
			case i.Do == Refuse && i.In != Executed && l.URN.Type() == "test:index:Thing":
				i.slots.refuse(l)
				return l.Refuse(refusal)
			}
			return emit(in)
		}}
	})
}

// registered returns the stage for the first slot, in which goals can be changed and have no URN.
func (i inserted) registered() pipeline.Stage[stages.Registered, stages.Registered] {
	run := func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
		if g := r.Goal; g != nil && g.Type == "test:index:Thing" && i.concerns(g.Name) {
			switch i.Do {
			case Delay:
				i.pause()
			case Change:
				changed := *g
				changed.Inputs = g.Inputs.With(stagedName, property.String("yes"))
				r.Goal = &changed
			}
		}
		return emit(r)
	}
	return pipeline.Stage[stages.Registered, stages.Registered]{Name: fmt.Sprint("stage ", i.number), Run: run} // one worker keeps the order of arrival
}

// around returns a replacement that has the effect of the one before it, or of the standard stage if there is none, perhaps
// later.
func around[In interface{ Identity() stages.Identity }, Out any](
	i inserted, before func(stages.Operation, pipeline.Stage[In, Out]) pipeline.Stage[In, Out],
) func(stages.Operation, pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
	return func(op stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
		if before != nil {
			standard = before(op, standard)
		}
		own := standard
		own.Run = func(ctx context.Context, in In, emit pipeline.Emit[Out]) error {
			if i.Do == Delay && i.concerns(in.Identity().URN().Name()) {
				i.pause()
			}
			return standard.Run(ctx, in, emit)
		}
		return own
	}
}

// deleting returns the stage for deletes before they begin.
func (i inserted) deleting() pipeline.Stage[stages.Deleting, stages.Deleting] {
	run := func(_ context.Context, d stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
		switch {
		case !i.concerns(d.URN.Name()):
		case i.Do == Delay:
			i.pause()
		case i.Do == Refuse && d.URN.Type() == "test:index:Thing":
			i.slots.refuse(stages.Located{URN: d.URN})
			if i.slots.attempt.preview {
				i.slots.deleting(d) // the refused delete goes on, so that all refusals are shown
			}
			return d.Refuse(refusal)
		}
		i.slots.deleting(d)
		return emit(d)
	}
	return pipeline.Stage[stages.Deleting, stages.Deleting]{Name: fmt.Sprint("stage ", i.number), Workers: i.Workers, Run: run}
}

// deleted returns the stage for deletes that are over.
func (i inserted) deleted() pipeline.Stage[stages.Deleted, stages.Deleted] {
	run := func(_ context.Context, d stages.Deleted, emit pipeline.Emit[stages.Deleted]) error {
		if i.Do == Delay && i.concerns(d.URN.Name()) {
			i.pause()
		}
		if !i.slots.mayDelete(d.URN, d.Old.ID) {
			i.slots.attempt.mu.Lock()
			i.slots.attempt.fault("%s is deleted, and has not passed the stages of deletes", d.URN)
			i.slots.attempt.mu.Unlock()
		}
		return emit(d)
	}
	return pipeline.Stage[stages.Deleted, stages.Deleted]{Name: fmt.Sprint("stage ", i.number), Workers: i.Workers, Run: run}
}

// deleting records that a delete has passed a stage.
func (s *slots) deleting(d stages.Deleting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deletes[object{d.URN, d.Old.ID}]++
}

// mayDelete reports whether a delete has passed all stages of deletes.
func (s *slots) mayDelete(u urn.URN, id string) bool {
	if s == nil {
		return true
	}
	want := 0
	for _, st := range s.attempt.op.Stages {
		if st.In == Deleting {
			want++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deletes[object{u, id}] >= want
}

// passes records that a registration has reached a stage, which may happen once.
func (s *slots) passes(stage int, l stages.Located) {
	key := fmt.Sprint(stage, " ", l.Seq)
	s.mu.Lock()
	twice := s.seen[key]
	s.seen[key] = true
	s.mu.Unlock()
	if twice {
		s.attempt.mu.Lock()
		s.attempt.fault("%s comes to stage %d twice", l.URN, stage)
		s.attempt.mu.Unlock()
	}
}

func (s *slots) refuse(l stages.Located) {
	s.mu.Lock()
	s.refused[l.URN] = true
	s.mu.Unlock()
}

// refuses reports whether a stage has refused a resource, or anything if the URN is "".
func (s *slots) refuses(u urn.URN) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused[u] || u == "" && len(s.refused) > 0
}

// mustBeStaged reports a fault if a provider gets inputs that a stage should have changed.
func (a *attempt) mustBeStaged(what string, u urn.URN, inputs property.Map) {
	if u.Type() != "test:index:Thing" || has(inputs, stagedName) || a.keepsInputs(u, inputs) {
		return
	}
	for _, st := range a.op.Stages {
		if st.In == Registered && st.Do == Change && (st.Name == "" || st.Name == u.Name()) {
			a.mu.Lock()
			a.fault("%s %s with inputs that a stage has changed, as they were before", what, u)
			a.mu.Unlock()
		}
	}
}

// keepsInputs reports whether inputs may be those of a resource that is not part of the operation. If such a resource is
// created nevertheless, because it was only read or is replaced with another one, it is created with its recorded inputs and
// not with those of its goal (steps.md 3.6, 6.5).
func (a *attempt) keepsInputs(u urn.URN, inputs property.Map) bool {
	return len(a.op.Targets)+len(a.op.Excludes) > 0 && slices.ContainsFunc(a.before.resources(), func(r *state.Resource) bool {
		return r.URN == u && property.EqualMaps(r.Inputs, inputs)
	})
}
