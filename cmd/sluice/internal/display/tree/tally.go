package tree

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/stages"
)

// Tally counts resources by their actual or planned change. One node has few kinds below it, so a list takes less memory than a map. It leaves
// out kinds with a count of zero.
type Tally []Tallied

// Tallied is the count of one kind. A [Tally] is sorted by kind.
type Tallied struct {
	Op stages.Op
	N  int
}

// Of returns the count of a kind.
func (t Tally) Of(op stages.Op) int {
	for _, x := range t {
		if x.Op == op {
			return x.N
		}
	}
	return 0
}

// Add adds n to the count of a kind.
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
