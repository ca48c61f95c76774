package requests

import (
	"context"
	"fmt"
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
	place      int // in the order of the first answers about each URN, from 1
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

// adopt gives an expected registration the part of a goal that the registration of a URN has: children of a remote component inherit from the
// registration that its provider makes, and the provider of that serves methods (steps.md 1.3, 10.2).
func (f *Families) adopt(q *stages.PendingReply, u urn.URN) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of, inner := f.coming[q], f.known[u]
	if of == nil {
		return
	}
	of.Own = nil
	if inner != nil {
		of.Own = inner.Own
	}
}

// size returns the number of URNs that have been answered.
func (f *Families) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.known)
}

// checkConstructed returns an error unless a URN is that of a component that has been registered since size returned before. Its type, name and
// parent may differ from those that its provider was asked for.
func (f *Families) checkConstructed(u urn.URN, before int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, wrong := f.known[u], ""
	switch {
	case u == "":
		wrong = "no URN"
	case k == nil:
		wrong = fmt.Sprintf("the URN %v, which is not registered", u)
	case k.custom:
		wrong = fmt.Sprintf("the URN %v, which is not that of a component", u)
	case k.place <= before:
		wrong = fmt.Sprintf("the URN %v, which was registered before", u)
	default:
		return nil
	}
	return fmt.Errorf("the provider has returned %s; it must register the component and return the URN that it gets", wrong)
}

// answered keeps the values that a registration passes on now that it is answered; a nil reply drops them. A registration that has failed keeps
// nothing if its URN is that of another one.
func (f *Families) answered(q *stages.PendingReply, reply *stages.RegisterReply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.coming[q]
	delete(f.coming, q)
	if of == nil || reply == nil || reply.URN == "" {
		return
	}
	of.id = reply.ID
	// A remote component is registered twice: by its provider and by the program.
	switch first := f.known[reply.URN]; {
	case first == nil:
		of.place = len(f.known) + 1
		f.children[of.parent] = append(f.children[of.parent], reply.URN)
	case reply.Result != stages.Success:
		return
	default:
		of.place = first.place
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
