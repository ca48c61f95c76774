package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Explanation is the chain of reasons for the decision about one resource.
type Explanation struct {
	URN urn.URN `json:"urn"`
	// Links are the decisions about the resource, then the decisions that led to them, each after one that names it. Each decision
	// occurs once.
	Links []Link `json:"links"`
	// Start is the number of Links that are about the resource itself; the most important one is the first.
	Start int `json:"start"`
}

// Link is one decision in an explanation.
type Link struct {
	Decision
	Type urn.Type `json:"type"`
	Name string   `json:"name"`
	// Because is the reason in words.
	Because string `json:"because"`
	// Possibly is why the change is only possible, in words; "" if it is certain.
	Possibly string `json:"possibly,omitempty"`
	// Next are the positions in [Explanation.Links] of the decisions of Causes.
	Next []int `json:"next,omitempty"`
}

// index finds decisions.
type index struct {
	byURN map[urn.URN][]int // the most important one first
	old   map[urn.URN]urn.URN
}

func newIndex(decisions []Decision) index {
	x := index{byURN: make(map[urn.URN][]int, len(decisions)), old: map[urn.URN]urn.URN{}}
	for i, d := range decisions {
		x.byURN[d.URN] = append(x.byURN[d.URN], i)
		if d.OldURN != "" {
			x.old[d.OldURN] = d.URN
		}
	}
	for _, list := range x.byURN {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank(decisions[a].Op), rank(decisions[b].Op)) })
	}
	return x
}

// rank orders the decisions about one resource by their importance.
func rank(op stages.Op) int {
	switch op {
	case stages.OpDeleteReplaced, stages.OpDiscardReplaced:
		return 2 // of an old copy
	case stages.OpSame, stages.OpRemovePendingReplace:
		return 1
	case stages.OpRefresh:
		return 3
	}
	return 0
}

// Renames returns the deletes and creates of a preview that look like one renamed resource, in the order of their new names,
// containing resources first.
func (l *Log) Renames() []renames.Rename {
	var out []renames.Rename
	for _, d := range l.Decisions {
		if d.Rename != nil && d.Op == stages.OpCreate {
			out = append(out, *d.Rename)
		}
	}
	depth := func(r renames.Rename) int { return strings.Count(string(r.To.QualifiedType()), "$") }
	slices.SortStableFunc(out, func(a, b renames.Rename) int { return cmp.Compare(depth(a), depth(b)) })
	return out
}

// resolve returns the current URN of a resource, which may be named by a former one.
func (x index) resolve(u urn.URN) (urn.URN, bool) {
	if _, known := x.byURN[u]; known {
		return u, true
	}
	now, known := x.old[u]
	return now, known
}

// Why explains the decision about a resource, named by its current or a former URN. It returns nil if there is none.
func (l *Log) Why(u urn.URN) *Explanation {
	u, known := l.index.resolve(u)
	if !known {
		return nil
	}
	e := &Explanation{URN: u, Start: len(l.index.byURN[u])}
	place := map[int]int{} // of decisions in Links
	add := func(i int) int {
		if at, ok := place[i]; ok {
			return at
		}
		place[i] = len(e.Links)
		d := l.Decisions[i]
		e.Links = append(e.Links, Link{Decision: d, Type: d.URN.Type(), Name: d.URN.Name(), Because: d.why().Clause(), Possibly: d.why().Possibly()})
		return place[i]
	}
	for _, i := range l.index.byURN[u] {
		add(i)
	}
	for at := 0; at < len(e.Links); at++ {
		for _, c := range e.Links[at].Causes {
			if list := l.index.byURN[c]; len(list) > 0 {
				e.Links[at].Next = append(e.Links[at].Next, add(list[0]))
			}
		}
	}
	return e
}

// Find returns the resources that a text names, in ascending order: by a current or former URN, or by another form of a name (see
// [urn.Called]).
func (l *Log) Find(text string) []urn.URN {
	if u, known := l.index.resolve(urn.URN(text)); known {
		return []urn.URN{u}
	}
	return urn.Called(l.urns(), text)
}

// Nearest returns the resources with the names nearest to a text that names none.
func (l *Log) Nearest(text string) []urn.URN { return state.NearURNs(l.urns(), text) }

// urns returns the resources with a decision, in ascending order.
func (l *Log) urns() []urn.URN { return slices.Sorted(maps.Keys(l.index.byURN)) }
