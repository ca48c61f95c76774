package why

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Explanation is the chain of reasons for what was decided about one resource.
type Explanation struct {
	URN urn.URN `json:"urn"`
	// Links are what was decided about the resource, then the decisions that led to it, each after one that names it. A
	// decision is in it once.
	Links []Link `json:"links"`
	// Start is how many of Links are about the resource itself; the most telling one is the first.
	Start int `json:"start"`
}

// Link is one decision in an explanation.
type Link struct {
	Decision
	Type urn.Type `json:"type"`
	Name string   `json:"name"`
	// Because is the reason in words.
	Because string `json:"because"`
	// Next are the positions in [Explanation.Links] of the decisions of Causes.
	Next []int `json:"next,omitempty"`
}

// index finds decisions.
type index struct {
	byURN map[urn.URN][]int // the most telling one first
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

// rank orders the decisions about one resource by how much they tell.
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

// resolve returns the URN under which the operation knows a resource: the new one for a name that it had before.
func (x index) resolve(u urn.URN) (urn.URN, bool) {
	if _, known := x.byURN[u]; known {
		return u, true
	}
	now, known := x.old[u]
	return now, known
}

// Why explains what was decided about a resource, named by its URN or by one that it had before. It returns nil when
// nothing was.
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
		e.Links = append(e.Links, Link{Decision: d, Type: d.URN.Type(), Name: d.URN.Name(), Because: d.why().Clause()})
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

// Find returns the resources that a text names, in ascending order: a URN, now or before; else a name, or the end of a
// URN such as "aws:s3/bucket:Bucket::logs".
func (l *Log) Find(text string) []urn.URN {
	if u, known := l.index.resolve(urn.URN(text)); known {
		return []urn.URN{u}
	}
	var out []urn.URN
	for u := range l.index.byURN {
		if u.Name() == text || strings.HasSuffix(string(u), "::"+text) || strings.HasSuffix(string(u), "$"+text) {
			out = append(out, u)
		}
	}
	slices.Sort(out)
	return out
}

// Nearest returns up to five resources whose names are most like a text that names none.
func (l *Log) Nearest(text string) []urn.URN {
	const most = 5
	wanted := strings.ToLower(text)
	if u, err := urn.Parse(text); err == nil {
		wanted = strings.ToLower(u.Name())
	}
	type candidate struct {
		urn      urn.URN
		distance int
	}
	var near []candidate
	for u := range l.index.byURN {
		name := strings.ToLower(u.Name())
		n := levenshtein.Distance(wanted, name, nil)
		if wanted != "" && strings.Contains(name, wanted) {
			n = min(n, 1)
		}
		if n <= max(2, len(wanted)/3) {
			near = append(near, candidate{u, n})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.urn, b.urn))
	})
	out := make([]urn.URN, 0, most)
	for _, c := range near[:min(most, len(near))] {
		out = append(out, c.urn)
	}
	return out
}
