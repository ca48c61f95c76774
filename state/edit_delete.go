package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/urn"
)

// DeleteOptions define which entries [Delete] may delete.
type DeleteOptions struct {
	Dependents bool // also delete the dependents of the targets
	Protected  bool // also delete protected resources
}

// Delete returns s without the targets, which are entries of it, and the removed entries: dependents before their
// dependencies ([state.md 7.10]). Nothing is deleted in any cloud. If a remaining entry refers to a target, the error is a
// [*DependentsError]; for protected resources it is a [*ProtectedError]. s is not changed.
//
// If a URN has several copies, old copies depend on old copies and live ones on the live one, if there is one.
//
// [state.md 7.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#710-state
func Delete(s *Snapshot, targets []*Resource, o DeleteOptions) (*Snapshot, []*Resource, error) {
	gone, on := condemned(s.Resources, targets)
	if len(on) > 0 && !o.Dependents {
		return nil, nil, dependentsError(s.Resources, gone, on)
	}
	var kept, removed []*Resource
	var protected []urn.URN
	for i, r := range s.Resources {
		switch {
		case !gone[i]:
			kept = append(kept, r)
			continue
		case r.Protect:
			protected = append(protected, r.URN)
		}
		removed = append(removed, r)
	}
	if len(protected) > 0 && !o.Protected {
		return nil, nil, &ProtectedError{URNs: protected}
	}
	slices.Reverse(removed)
	out := *s
	out.Resources = kept
	if err := restoreOrder(s, &out); err != nil {
		return nil, nil, err
	}
	return &out, removed, nil
}

// condemned returns which entries are deleted with the targets, and for each of them the entry that it depends on.
func condemned(rs, targets []*Resource) (gone map[int]bool, on map[int]int) {
	wanted := make(map[*Resource]bool, len(targets))
	for _, r := range targets {
		wanted[r] = true
	}
	users := usersOf(rs)
	gone, on = map[int]bool{}, map[int]int{}
	var queue []int
	for i, r := range rs {
		if wanted[r] {
			gone[i] = true
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, user := range users[i] {
			if !gone[user] {
				gone[user], on[user] = true, i
				queue = append(queue, user)
			}
		}
	}
	return gone, on
}

// usersOf returns, for each entry, the entries that refer to it. A view counts as a user of its resource: it is part of
// it.
func usersOf(rs []*Resource) [][]int {
	t := indexTargets(rs)
	users := make([][]int, len(rs))
	for i, r := range rs {
		use := func(target int) {
			if target != i && (len(users[target]) == 0 || users[target][len(users[target])-1] != i) {
				users[target] = append(users[target], i)
			}
		}
		t.of(i, r, use)
		if r.ViewOf != "" {
			if owner, ok := t.byURN(i, r.Delete, r.ViewOf); ok {
				use(owner)
			}
		}
	}
	return users
}

// restoreOrder puts the resources of out, an edited form of s, into a valid order if they have lost it: a removed copy may
// have been the only one early enough. A snapshot that was not valid before is left as it is.
func restoreOrder(s, out *Snapshot) error {
	if Verify(s) != nil || Verify(out) == nil {
		return nil
	}
	ordered, err := topological(out.Resources)
	if err != nil {
		return err
	}
	out.Resources = ordered
	return Verify(out)
}

// DependentsError reports that resources to delete from the state have dependents.
type DependentsError struct{ Dependents []Dependent }

// Dependent is a resource that refers to another one.
type Dependent struct{ Resource, On *Resource }

func dependentsError(rs []*Resource, gone map[int]bool, on map[int]int) error {
	e := &DependentsError{}
	for i, r := range rs {
		if target, ok := on[i]; ok && gone[i] {
			e.Dependents = append(e.Dependents, Dependent{r, rs[target]})
		}
	}
	return e
}

// mostListed is the number of resources in an error message.
const mostListed = 20

func (e *DependentsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "what is to be deleted from the state is still used, by %d resources:", len(e.Dependents))
	if len(e.Dependents) == 1 {
		b.Reset()
		b.WriteString("what is to be deleted from the state is still used, by one resource:")
	}
	for _, d := range e.Dependents[:min(mostListed, len(e.Dependents))] {
		fmt.Fprintf(&b, "\n  %s\n    depends on %s", d.Resource.URN, d.On.URN)
	}
	b.WriteString(more(len(e.Dependents)))
	return b.String()
}

// Advice suggests deleting the dependents, too.
func (e *DependentsError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.DeleteDependents)}
}

// ProtectedError reports that protected resources were left alone.
type ProtectedError struct {
	URNs    []urn.URN // at least one
	Refused Refused
	// With is the resource whose replacement would have replaced the one of the error, "" for its own replacement.
	With urn.URN
}

// Refused is an action that protection prevents.
type Refused uint8

// The actions that protection prevents.
const (
	RefusedForget  Refused = iota // their records were to be deleted from the state
	RefusedDelete                 // the object of one resource was to be deleted
	RefusedReplace                // one resource was to be replaced
)

func (e *ProtectedError) Error() string {
	switch {
	case e.Refused == RefusedDelete:
		return fmt.Sprintf("resource %q cannot be deleted\nbecause it is protected.", e.URNs[0])
	case e.Refused == RefusedReplace && e.With != "":
		return fmt.Sprintf("unable to replace resource %q as part of replacing %q as it is currently marked for protection.", e.URNs[0], e.With)
	case e.Refused == RefusedReplace:
		return fmt.Sprintf("unable to replace resource %q\nas it is currently marked for protection.", e.URNs[0])
	}
	var b strings.Builder
	b.WriteString("protected resources are not deleted from the state:")
	for _, u := range e.URNs[:min(mostListed, len(e.URNs))] {
		fmt.Fprintf(&b, "\n  %s", u)
	}
	b.WriteString(more(len(e.URNs)))
	return b.String()
}

// Advice suggests how to end the protection. A resource that is replaced for its own sake is protected by the program,
// too.
func (e *ProtectedError) Advice() []advice.Advice {
	action := advice.Unprotect
	switch {
	case e.Refused == RefusedForget:
		action = advice.DeleteProtected
	case e.Refused == RefusedReplace && e.With == "":
		action = advice.RemoveProtection
	}
	return []advice.Advice{advice.On(action, e.URNs...)}
}

// more is the end of a list that names only some of n resources.
func more(n int) string {
	if n <= mostListed {
		return ""
	}
	return fmt.Sprintf("\n  and %d more", n-mostListed)
}
