package renames

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Rename is a resource that is to be deleted, and a similar one that is to be created.
type Rename struct {
	From urn.URN `json:"from"`
	To   urn.URN `json:"to"`
	// Name is the alias that keeps the resource, if its former name is sufficient. Otherwise, the alias is From.
	Name string `json:"name,omitempty"`
	// With is the new name of the resource that contains this one, if the alias of that keeps this one, too.
	With urn.URN `json:"with,omitempty"`
	// Possible is true if only a part of the inputs is equal, and these are the only delete and the only create of their type:
	// users must confirm it.
	Possible bool `json:"possible,omitempty"`
}

// Find returns the renames among the steps of a preview, in the order of their new names, containing resources first. Its time
// grows with the number of steps, and not with its square. The steps may come in any order, and are read twice.
func Find(steps iter.Seq[*stages.StepInfo]) []Rename {
	if !deletes(steps) {
		return nil // as for most stacks, without reading the creates
	}
	f := newFinder(steps)
	if len(f.deletes) == 0 || len(f.creates) == 0 {
		return nil
	}
	f.findComponents()
	f.match(f.customs())
	f.matchOnly(f.customs())
	var out []Rename
	for from, to := range f.paired {
		if d := f.deletes[from]; d != nil {
			out = append(out, f.rename(d, f.creates[to]))
		}
	}
	slices.SortFunc(out, func(a, b Rename) int { return cmp.Or(cmp.Compare(depth(a.To), depth(b.To)), cmp.Compare(a.To, b.To)) })
	return out
}

// deletes reports whether there is a delete among the steps.
func deletes(steps iter.Seq[*stages.StepInfo]) bool {
	for s := range steps {
		if s.Op == stages.OpDelete {
			return true
		}
	}
	return false
}

// depth returns how many resources contain a resource.
func depth(u urn.URN) int { return strings.Count(string(u.QualifiedType()), "$") }
