package requests

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// family has the values that a finished registration passes on to its children (steps.md 1.3).
type family struct {
	parent     urn.URN
	Own        *own
	transforms []stages.Transform
	providers  map[string]string // nil for custom resources
	custom     bool
	id         string
}

// own is the part of a goal that is needed after the registration has ended. The goal is several times as large, and there is one
// for each resource.
type own struct {
	provider                string
	deletedWith             urn.URN
	protect, retainOnDelete *bool
	DeleteBeforeReplace     *bool
}

func ownOf(g *stages.Goal) *own {
	return &own{
		provider: g.Provider, deletedWith: g.DeletedWith, protect: g.Protect, retainOnDelete: g.RetainOnDelete,
		DeleteBeforeReplace: g.DeleteBeforeReplace,
	}
}

// Families are the registrations that have ended, with the values that their children inherit, and those in flight. It is safe for
// concurrent use.
type Families struct {
	mu            sync.Mutex // guards the rest
	known         map[urn.URN]*family
	children      map[urn.URN][]urn.URN            // of those in known, by parent
	inFlightBelow map[urn.URN]int                  // registrations in flight, by parent
	coming        map[*stages.PendingReply]*family // of registrations that are complete and not answered
	ended         *await.Event                     // fired when one of them ends; nil while nothing waits for it
}

func newFamilies() *Families {
	return &Families{known: map[urn.URN]*family{}, children: map[urn.URN][]urn.URN{}, inFlightBelow: map[urn.URN]int{}, coming: map[*stages.PendingReply]*family{}}
}

// Of returns the family of a registration that has ended; nil for any other URN.
func (f *Families) Of(u urn.URN) *family {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[u]
}

// registering counts a registration below its parent until registered is called.
func (f *Families) registering(parent urn.URN) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlightBelow[parent]++
}

func (f *Families) registered(parent urn.URN) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inFlightBelow[parent]--; f.inFlightBelow[parent] == 0 {
		delete(f.inFlightBelow, parent)
	}
	if f.ended != nil {
		f.ended.Fire()
		f.ended = nil
	}
}

// expect records the values that a registration passes on to its children once it is answered.
func (f *Families) expect(q *stages.PendingReply, of *family) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.coming[q] = of
}

// setOwn changes the part of an expected registration that comes from its goal.
func (f *Families) setOwn(q *stages.PendingReply, o *own) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of := f.coming[q]; of != nil {
		of.Own = o
	}
}

// answered keeps the values that a registration passes on now that it is answered; a nil reply drops them.
func (f *Families) answered(q *stages.PendingReply, reply *stages.RegisterReply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.coming[q]
	delete(f.coming, q)
	if of == nil || reply == nil || reply.URN == "" {
		return
	}
	of.id = reply.ID
	if f.known[reply.URN] == nil { // a remote component is registered twice: by its provider and by the program
		f.children[of.parent] = append(f.children[of.parent], reply.URN)
	}
	f.known[reply.URN] = of
}

// unresolved reports whether any of the resources, or of those below a component among them, has no ID yet. It waits until no
// registration is in flight below such a component, and for nothing else (steps.md 10.4).
func (f *Families) unresolved(ctx context.Context, us []urn.URN) (bool, error) {
	if len(us) == 0 {
		return false, nil
	}
	for {
		unresolved, busy := f.expand(us)
		if busy == nil {
			return unresolved, nil
		}
		if err := busy.Wait(ctx); err != nil {
			return false, err
		}
	}
}

// expand reports whether a resource, or one below a component among them, has no ID. If a registration is in flight below one of
// them, it returns the event that is fired when one ends.
func (f *Families) expand(us []urn.URN) (unresolved bool, busy *await.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	inFlight := false
	todo := append([]urn.URN(nil), us...)
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		k := f.known[u]
		switch {
		case k == nil:
		case !k.custom:
			inFlight = inFlight || f.inFlightBelow[u] > 0
			todo = append(todo, f.children[u]...)
		case k.id == "" || k.id == urn.UnknownID:
			unresolved = true
		}
	}
	if !inFlight {
		return unresolved, nil
	}
	if f.ended == nil {
		f.ended = await.NewEvent()
	}
	return unresolved, f.ended
}
