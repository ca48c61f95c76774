package display

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Forecast has the steps that a preview predicts for an operation. It is immutable.
type Forecast struct {
	rows []foreseen // in the order of the preview; see [Forecast.ranked]
	rank func()     // sorts rows into the order of a log, once: a screen seldom needs it
	uses map[urn.URN][]urn.URN
	// removals are the resources that are deleted.
	removals map[urn.URN]bool
}

// place names the row of a resource. The delete of an old copy and the result of a refresh have rows of their own.
type place struct {
	urn   urn.URN
	class rowClass
}

type rowClass int

const (
	makes rowClass = iota
	removes
	finds
)

func placeOf(s stages.StepInfo) place {
	switch {
	case s.Op == stages.OpRefresh:
		return place{s.URN, finds}
	case s.Op == stages.OpDelete, s.Op == stages.OpDiscard:
		return place{s.URN, removes}
	}
	return place{s.Resource(), makes}
}

// foreseen is an expected row.
type foreseen struct {
	place
	step  stages.StepInfo // without states, except for the names of a renamed resource
	kind  string          // the type, as displayed
	phase int             // components come last, because it is unknown when they are complete
	level int             // within the phase: one more than the highest level of the rows that must end before
}

// NewForecast returns the forecast of the steps of a preview.
func NewForecast(steps []stages.StepInfo) *Forecast {
	f := &Forecast{rows: make([]foreseen, 0, len(steps)), uses: make(map[urn.URN][]urn.URN, len(steps)), removals: map[urn.URN]bool{}}
	at, kinds := make(map[place]int, len(steps)), kinds{}
	components := map[urn.URN]bool{}
	renamed := map[urn.URN]urn.URN{}
	for _, s := range steps {
		if former := s.FormerURN(); former != "" {
			renamed[former] = s.URN
		}
	}
	for _, s := range steps {
		if now := renamed[s.URN]; now != "" && s.New == nil && s.CurrentURN == "" && isReplacementPart(s.Op) {
			s.CurrentURN = now // deleted before the program registered it
		}
		if r := cmp.Or(s.New, s.Old); r != nil {
			f.uses[s.URN] = used(r)
			if !r.Custom {
				components[s.URN] = true
			}
		}
		if s.Internal || s.Op == stages.OpRemovePendingReplace {
			if i, known := at[placeOf(s)]; known && f.rows[i].step.Op == stages.OpReplace && s.Old != nil && !s.Old.PendingReplacement {
				f.rows[i].step.Op, f.rows[i].step.Reason = stages.OpDelete, s.Reason
			}
			continue
		}
		row := foreseen{place: placeOf(s), step: stages.StepInfo{Op: s.Op, URN: s.URN, Reason: s.Reason}, kind: kinds.of(s.URN)}
		if isReplacementPart(s.Op) {
			row.step.Op = stages.OpReplace
		}
		if former := s.FormerURN(); former != "" { // it has a row even if it is unchanged
			row.step.Old, row.step.New = &state.Resource{URN: former}, &state.Resource{URN: s.URN}
		}
		if i, known := at[row.place]; known {
			if row.step.Op == stages.OpReplace {
				f.rows[i].step = row.step
			}
			continue
		}
		if row.class == removes {
			f.removals[s.URN] = true
		} else {
			delete(f.removals, s.URN)
		}
		at[row.place] = len(f.rows)
		f.rows = append(f.rows, row)
	}
	f.rank = sync.OnceFunc(func() { f.order(at, components) })
	return f
}

// ranked returns the rows in the order of a log.
func (f *Forecast) ranked() []foreseen {
	f.rank()
	return f.rows
}

// order sorts the rows: a resource comes before its users, and is removed after them.
func (f *Forecast) order(at map[place]int, components map[urn.URN]bool) {
	users := map[urn.URN][]urn.URN{}
	for _, u := range slices.Sorted(maps.Keys(f.uses)) {
		for _, used := range f.uses[u] {
			users[used] = append(users[used], u)
		}
	}
	makeLevels, removeLevels := newLevels(f.uses), newLevels(users)
	for i := range f.rows {
		row := &f.rows[i]
		switch {
		case row.class == removes:
			row.phase, row.level = 1, removeLevels.of(row.urn, func(u urn.URN) bool {
				_, is := at[place{u, removes}]
				return is
			})
		case components[row.urn]:
			row.phase, row.level = 2, -makeLevels.of(row.urn, nil) // the inner components first
		default:
			row.level = makeLevels.of(row.urn, nil)
		}
	}
	slices.SortFunc(f.rows, func(a, b foreseen) int {
		return cmp.Or(a.compareCell(b), natural.Compare(a.urn.Name(), b.urn.Name()), cmp.Compare(a.urn, b.urn))
	})
}

// compareCell compares the cells of two rows. The rows of a cell are written together; only their names order them.
func (f foreseen) compareCell(other foreseen) int {
	return cmp.Or(cmp.Compare(f.phase, other.phase), cmp.Compare(f.level, other.level),
		compareKinds(f.kind, other.kind), cmp.Compare(f.urn.Type(), other.urn.Type()), cmp.Compare(f.step.Op, other.step.Op))
}

// levels are the lengths of the longest chains in a graph.
type levels struct {
	edges map[urn.URN][]urn.URN
	known map[urn.URN]int
}

func newLevels(edges map[urn.URN][]urn.URN) levels { return levels{edges, map[urn.URN]int{}} }

// of returns the length of the longest chain from u through the nodes that counts accepts; nil accepts all. A cycle ends the chain.
func (l levels) of(u urn.URN, counts func(urn.URN) bool) int {
	if n, known := l.known[u]; known {
		return n
	}
	l.known[u] = 0
	longest := 0
	for _, next := range l.edges[u] {
		if counts == nil || counts(next) {
			longest = max(longest, 1+l.of(next, counts))
		}
	}
	l.known[u] = longest
	return longest
}

// used returns the resources that a resource refers to.
func used(r *state.Resource) []urn.URN {
	var out []urn.URN
	for ref := range r.References() {
		out = append(out, ref.URN)
	}
	return out
}

// operations returns the operation of each resource that changes.
func (f *Forecast) operations() map[urn.URN]stages.Op {
	out := map[urn.URN]stages.Op{}
	if f != nil {
		for _, r := range f.rows {
			if r.class != finds {
				out[r.urn] = r.step.Op
			}
		}
	}
	return out
}

// changes returns the resources that were expected to change, in the order of the rows.
func (f *Forecast) changes() []urn.URN {
	var out []urn.URN
	if f != nil {
		for _, r := range f.ranked() {
			if r.step.Op != stages.OpSame && r.step.Op != stages.OpRead && r.class != finds {
				out = append(out, r.urn)
			}
		}
	}
	return out
}
