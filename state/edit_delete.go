package state

import (
	"fmt"
	"slices"
	"strings"
)

// DeleteOptions say how far [Delete] may go.
type DeleteOptions struct {
	Dependents bool // take along what depends on the targets
	Protected  bool // although they are protected
}

// Delete returns s without the targets, which are entries of it, and what was taken out: dependents before what they
// depend on (state.md 7.10). Nothing is deleted in any cloud. What depends on a target, by a reference of any kind,
// must go along or makes a [*DependentsError]; protected resources make a [*ProtectedError]. s is not changed.
//
// With several copies of a URN, old copies depend on old copies and live ones on the live one, as far as there is one.
func Delete(s *Snapshot, targets []*Resource, o DeleteOptions) (*Snapshot, []*Resource, error) {
	gone, on := condemned(s.Resources, targets)
	if len(on) > 0 && !o.Dependents {
		return nil, nil, dependentsError(s.Resources, gone, on)
	}
	var kept, removed, protected []*Resource
	for i, r := range s.Resources {
		switch {
		case !gone[i]:
			kept = append(kept, r)
			continue
		case r.Protect:
			protected = append(protected, r)
		}
		removed = append(removed, r)
	}
	if len(protected) > 0 && !o.Protected {
		return nil, nil, &ProtectedError{Resources: protected}
	}
	slices.Reverse(removed)
	out := *s
	out.Resources = kept
	if err := restoreOrder(s, &out); err != nil {
		return nil, nil, err
	}
	return &out, removed, nil
}

// condemned tells which entries go with the targets, and for each that is no target on which entry it depends.
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

// usersOf returns, for each entry, the entries that refer to it. A view counts as a user of what it is a view of: it is
// part of it.
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

// restoreOrder puts the resources of out, which came from s by an edit, into a valid order if they have lost it: a copy
// that is gone may have been the only one early enough. A snapshot that was not valid before is left as it is.
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

// DependentsError says that what is to be deleted from the state has dependents.
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

// mostListed is how many resources an error names.
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
	b.WriteString("\ndelete these first, or take them along with --target-dependents")
	return b.String()
}

// ProtectedError says that resources were not deleted because they are protected.
type ProtectedError struct {
	Resources []*Resource // at least one
	// Objects is true when the objects were to be deleted, of a single resource, and false when only their records were.
	Objects bool
}

func (e *ProtectedError) Error() string {
	if e.Objects {
		u := e.Resources[0].URN
		return fmt.Sprintf("resource %q cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the `protect` flag "+
			"from the resource in your program and run `sluice up`, or use the command:\n`sluice state unprotect %s`", u, u.ShellQuoted())
	}
	var b strings.Builder
	b.WriteString("protected resources are not deleted from the state:")
	for _, r := range e.Resources[:min(mostListed, len(e.Resources))] {
		fmt.Fprintf(&b, "\n  %s", r.URN)
	}
	b.WriteString(more(len(e.Resources)))
	b.WriteString("\nuse --force to delete them all the same, or `sluice state unprotect` before")
	return b.String()
}

// more ends a list that names only some of n resources.
func more(n int) string {
	if n <= mostListed {
		return ""
	}
	return fmt.Sprintf("\n  and %d more", n-mostListed)
}
