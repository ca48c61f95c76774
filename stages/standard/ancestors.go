package standard

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages/internal/book"
)

// always is the mark of a state about which everything is certain.
const always = -1

// openAncestor walks up from a base state to the nearest ancestor whose registration is earlier and undecided.
//
// Ancestors without such a state above them are marked and end later walks, so that the cost over a whole run is linear
// for programs in dependency order. A mark is permanent when everything above is decided. If something above is not
// registered, and perhaps never will be, the mark holds until such a state is claimed: the epoch of the names. Old copies
// that await deletion are never registered and decide nothing.
func (b *builder) openAncestor(seq int, id graph.ID, visited map[graph.ID]bool) (int, bool) {
	type frame struct {
		id   graph.ID
		next int
		book.Doubt
	}
	epoch := b.Names.ClaimEpoch()
	stack := []frame{{id: id}}
	visited[id] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		deps := b.Base.Graph.Dependencies(f.id)
		if f.next == len(deps) {
			switch {
			case f.id == id:
			case f.Doubt == book.Certain:
				b.noOpenAncestor[f.id] = always
			case f.Doubt == book.Unclaimed:
				b.noOpenAncestor[f.id] = epoch
			}
			above := f.Doubt
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				top.Doubt = max(top.Doubt, above)
			}
			continue
		}
		e := deps[f.next]
		f.next++
		switch {
		case e.Kind&book.ClosureKinds == 0 || b.noOpenAncestor[e.ID] == always:
		case b.noOpenAncestor[e.ID] == epoch:
			f.Doubt = max(f.Doubt, book.Unclaimed)
		case visited[e.ID]:
			f.Doubt = book.Undecided
		default:
			claimant, d := b.DoubtAbout(e.ID)
			if d == book.Undecided && claimant < seq {
				return claimant, true
			}
			visited[e.ID] = true
			stack = append(stack, frame{id: e.ID, Doubt: d})
		}
	}
	return 0, false
}
