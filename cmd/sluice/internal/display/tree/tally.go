package tree

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/stages"
)

// Tally counts resources by what is done to them, or planned. There are few kinds below one node, so that a list takes less than a map. Kinds of
// which there are none are not in it.
type Tally []Tallied

// Tallied is how many resources there are of one kind, in a [Tally] in ascending order of the kinds.
type Tallied struct {
	Op stages.Op
	N  int
}

// Of returns how many resources there are of a kind.
func (t Tally) Of(op stages.Op) int {
	for _, x := range t {
		if x.Op == op {
			return x.N
		}
	}
	return 0
}

// Add adds to the number of a kind.
func (t *Tally) Add(op stages.Op, n int) {
	i, found := slices.BinarySearchFunc(*t, op, func(x Tallied, op stages.Op) int { return cmp.Compare(x.Op, op) })
	switch {
	case !found && n != 0:
		*t = slices.Insert(*t, i, Tallied{op, n})
	case found && (*t)[i].N+n == 0:
		*t = slices.Delete(*t, i, i+1)
	case found:
		(*t)[i].N += n
	}
}
