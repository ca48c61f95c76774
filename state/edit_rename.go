package state

import (
	"fmt"

	"github.com/sluice-iac/sluice/urn"
)

// NameTakenError reports that another resource has the URN that a resource would get.
type NameTakenError struct {
	URN  urn.URN
	Dest bool // in the destination stack of a move
}

func (e *NameTakenError) Error() string {
	if e.Dest {
		return fmt.Sprintf("the destination has another resource %s", e.URN)
	}
	return fmt.Sprintf("the state has another resource %s", e.URN)
}

// Rename returns s with another name in the URN of r, an entry of it, and in everything that refers to that URN:
// dependencies, parents, provider references, pending operations, snippets, and resource references in properties that
// are not sealed ([state.md 7.10]). Names of children do not change: a URN has the types of its ancestors, not their
// names. s is not changed. Errors are an [*NameTakenError], a [*CopiesError], or explain why the name is not valid.
//
// [state.md 7.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#710-state
func Rename(s *Snapshot, r *Resource, name string) (*Snapshot, error) {
	old, now := r.URN, r.URN.Renamed(name)
	switch {
	case name == "":
		return nil, fmt.Errorf("the new name of %s is empty", old)
	case urn.URN(name).IsValid():
		return nil, fmt.Errorf("the new name must be a name such as %q, and not a URN: the stack, the project and the type stay as they are",
			urn.URN(name).Name())
	case old.IsRootStack():
		return nil, fmt.Errorf("%s cannot be renamed: its name is made of those of the project and the stack", old)
	case old == now:
		return s, nil
	}
	var copies []*Resource
	for _, o := range s.Resources {
		switch o.URN {
		case now:
			return nil, &NameTakenError{URN: now}
		case old:
			copies = append(copies, o)
		}
	}
	if len(copies) > 1 {
		return nil, &CopiesError{copies}
	}
	return renames{old: now}.everywhere(s)
}
