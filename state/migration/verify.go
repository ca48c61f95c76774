package migration

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// refuseViews refuses subtrees with views: their states belong to the provider of another resource.
func refuseViews(states []*state.Resource) error {
	for _, r := range states {
		if r.ViewOf != "" {
			return fmt.Errorf("%s is a view of %s; states with views cannot be migrated", r.URN, r.ViewOf)
		}
	}
	return nil
}

// account checks that a function returns each resource that it got, or a successor of it.
func account(before, after []*state.Resource, successors map[urn.URN]urn.URN) error {
	old, now := map[urn.URN]*state.Resource{}, map[urn.URN]*state.Resource{}
	for _, r := range before {
		old[r.URN] = r
	}
	for _, r := range after {
		switch {
		case !r.URN.IsValid():
			return fmt.Errorf("%q is not a valid URN", r.URN)
		case now[r.URN] != nil:
			return fmt.Errorf("%s is returned twice", r.URN)
		case r.Type != r.URN.Type():
			return fmt.Errorf("%s is returned with the type %s", r.URN, r.Type)
		case len(r.Aliases) > 0:
			return fmt.Errorf("%s is returned with aliases; name its successor instead", r.URN)
		}
		now[r.URN] = r
	}
	for u, next := range successors {
		switch {
		case old[u] == nil:
			return fmt.Errorf("a successor is returned for %s, which is not among the states", u)
		case now[u] != nil:
			return fmt.Errorf("%s is returned, and has the successor %s", u, next)
		case now[next] == nil:
			return fmt.Errorf("%s, the successor of %s, is not returned", next, u)
		}
	}
	for _, r := range before {
		next := now[r.URN]
		switch {
		case next == nil && successors[r.URN] == "":
			return fmt.Errorf("%s is neither returned nor has it a successor; no resource may be forgotten", r.URN)
		case next == nil:
		case r.Custom != next.Custom:
			return fmt.Errorf("%s is returned as a %s, and was a %s", r.URN, kindOf(next), kindOf(r))
		case r.ID != next.ID:
			return fmt.Errorf("%s is returned with the ID %q, and had %q", r.URN, next.ID, r.ID)
		}
	}
	return nil
}

func kindOf(r *state.Resource) string {
	if r.Custom {
		return "custom resource"
	}
	return "component"
}

// verification checks the result of the functions as a whole.
type verification struct{ of *Migration }

func (v verification) check(ctx context.Context, s *state.Snapshot) error {
	if err := v.providers(ctx); err != nil {
		return err
	}
	if err := v.objects(); err != nil {
		return err
	}
	return v.shape(s)
}

// providers checks that providers are as before: running plugins are configured by their states.
func (v verification) providers(ctx context.Context) error {
	old := map[urn.URN]*state.Resource{}
	for _, r := range v.of.states {
		if r.Type.IsProvider() {
			old[r.URN] = r
		}
	}
	for _, r := range v.of.next {
		if !r.Type.IsProvider() {
			continue
		}
		was := old[r.URN]
		if was == nil {
			return fmt.Errorf("the provider %s is new; providers must stay as they are", r.URN)
		}
		if same, err := state.EqualText(ctx, was, r); err != nil || !same {
			return errors.Join(err, fmt.Errorf("the provider %s has changed; providers must stay as they are", r.URN))
		}
		delete(old, r.URN)
	}
	for u := range old {
		return fmt.Errorf("the provider %s is gone; providers must stay as they are", u)
	}
	return nil
}

// heritage is what a resource has from those that it succeeds.
type heritage struct {
	object          *state.Resource // one with its object; nil if there is none
	protect, retain bool
}

// objects checks that each returned custom resource has the object of one that was recorded, and each object is still recorded. What protects an
// object stays.
func (v verification) objects() error {
	now, from := map[urn.URN]*state.Resource{}, map[urn.URN]heritage{}
	for _, r := range v.of.next {
		now[r.URN] = r
	}
	for _, old := range v.of.states {
		next := now[v.of.Successor(old.URN)]
		if err := inherits(old, next); err != nil {
			return err
		}
		h := from[next.URN]
		if old.Custom {
			h.object = old
		}
		h.protect, h.retain = h.protect || old.Protect, h.retain || old.RetainOnDelete
		from[next.URN] = h
	}
	for _, r := range v.of.next {
		h := from[r.URN]
		if r.Custom && h.object == nil && r.ID != "" {
			for _, old := range v.of.states {
				if !isObjectOf(old, r) {
					continue
				}
				if err := inherits(old, r); err != nil {
					return err
				}
				h = heritage{old, h.protect || old.Protect, h.retain || old.RetainOnDelete}
			}
		}
		switch {
		case r.Custom && h.object == nil:
			return fmt.Errorf("%s has the ID %q, which no resource among the states had; objects are taken over with an import", r.URN, r.ID)
		case !r.Custom && (r.Taint || r.PendingReplacement):
			return fmt.Errorf("%s is a component, and is returned as to be replaced", r.URN)
		case r.Protect != h.protect:
			return fmt.Errorf("%s is returned with protect: %t, and it has to be %t as before", r.URN, r.Protect, h.protect)
		case r.RetainOnDelete != h.retain:
			return fmt.Errorf("%s is returned with retainOnDelete: %t, and it has to be %t as before", r.URN, r.RetainOnDelete, h.retain)
		}
	}
	return nil
}

// isObjectOf reports whether two custom resources have one object.
func isObjectOf(a, b *state.Resource) bool {
	return a.Custom && a.ID == b.ID && a.Provider == b.Provider && a.ExtensionRef == b.ExtensionRef
}

// inherits checks that a custom resource goes on in another one as the same object. What becomes of a component is free.
func inherits(old, next *state.Resource) error {
	if !old.Custom {
		return nil
	}
	what := ""
	switch {
	case !next.Custom:
		return fmt.Errorf("%s has an object, and its successor %s is a component", old.URN, next.URN)
	case old.ID != next.ID:
		what = fmt.Sprintf("the ID %q for %q", next.ID, old.ID)
	case old.Provider != next.Provider:
		what = fmt.Sprintf("the provider %s for %s", next.Provider, old.Provider)
	case old.ExtensionRef != next.ExtensionRef:
		what = "another extension"
	case old.External != next.External:
		what = fmt.Sprintf("external: %t", next.External)
	case old.PendingReplacement != next.PendingReplacement:
		what = fmt.Sprintf("pendingReplacement: %t", next.PendingReplacement)
	case old.Taint != next.Taint:
		what = fmt.Sprintf("taint: %t", next.Taint)
	default:
		return nil
	}
	return fmt.Errorf("%s, in which %s goes on, has %s; a migration must not change which object it is, and who manages it", next.URN, old.URN, what)
}

// shape checks the names and the parents of the returned states, and what they refer to.
func (v verification) shape(s *state.Snapshot) error {
	now, old := map[urn.URN]*state.Resource{}, map[urn.URN]bool{}
	for _, r := range v.of.states {
		old[r.URN] = true
	}
	for _, r := range v.of.next {
		now[r.URN] = r
	}
	root, err := v.root(now)
	if err != nil {
		return err
	}
	outside := map[urn.URN]bool{}
	for _, r := range s.Resources {
		if !r.Delete && !old[r.URN] {
			outside[r.URN] = true
		}
	}
	for _, r := range v.of.next {
		if err := v.name(r, outside); err != nil {
			return err
		}
		if err := v.parent(r, root, now); err != nil {
			return err
		}
		for ref := range r.References() {
			if now[ref.URN] == nil && !outside[ref.URN] {
				return fmt.Errorf("%s refers to %s, which is not in the state", r.URN, ref.URN)
			}
		}
	}
	return nil
}

// root returns the name under which the resource is returned: as it is registered or as it was recorded.
func (v verification) root(now map[urn.URN]*state.Resource) (urn.URN, error) {
	switch is, was := now[v.of.resource] != nil, now[v.of.root] != nil; {
	case !is && !was:
		return "", fmt.Errorf("the resource itself is not returned, neither as %s nor as %s", v.of.resource, v.of.root)
	case is && was && v.of.resource != v.of.root:
		return "", fmt.Errorf("the resource itself is returned twice, as %s and as %s", v.of.resource, v.of.root)
	case is:
		return v.of.resource, nil
	}
	return v.of.root, nil
}

func (v verification) name(r *state.Resource, outside map[urn.URN]bool) error {
	u := v.of.resource
	expected := urn.Subject{Stack: u.Stack(), Project: u.Project(), Type: r.Type, Name: r.URN.Name(), Parent: r.Parent}.URN()
	switch {
	case r.URN.Stack() != u.Stack() || r.URN.Project() != u.Project():
		return fmt.Errorf("%s is of another stack or project", r.URN)
	case outside[r.URN]:
		return fmt.Errorf("%s is returned, and is another resource of the stack", r.URN)
	case r.Delete:
		return fmt.Errorf("%s is returned as an old copy that awaits deletion", r.URN)
	case r.ViewOf != "":
		return fmt.Errorf("%s is returned as a view", r.URN)
	case r.Custom && r.ID == "":
		return fmt.Errorf("%s is returned without an ID", r.URN)
	case r.Parent != "" && !r.Parent.IsValid():
		return fmt.Errorf("%s is returned with the parent %q, which is not a valid URN", r.URN, r.Parent)
	case r.URN != expected:
		return fmt.Errorf("%s has the parent %s, and so its URN must be %s", r.URN, r.Parent, expected)
	}
	return nil
}

// parent checks that a state stays where it was, or is below the root.
func (v verification) parent(r *state.Resource, root urn.URN, now map[urn.URN]*state.Resource) error {
	if r.URN == root {
		if was := v.of.states[0].Parent; r.Parent != was {
			return fmt.Errorf("%s is returned with the parent %q; it has to stay %q", r.URN, r.Parent, was)
		}
		return nil
	}
	at := r
	for range len(now) {
		if at.Parent == root {
			return nil
		}
		if at = now[at.Parent]; at == nil {
			return fmt.Errorf("%s is returned, and is not below %s", r.URN, root)
		}
	}
	return fmt.Errorf("the parents of %s lead back to it", r.URN)
}
