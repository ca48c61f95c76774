package why

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/stages"
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
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank(&decisions[a]), rank(&decisions[b])) })
	}
	return x
}

// rank orders the decisions about one resource by their importance.
func rank(d *Decision) int {
	if d.Reason == stages.ReasonRefused {
		return 0
	}
	switch d.Op {
	case stages.OpSame, stages.OpRemovePendingReplace:
		return 2
	case stages.OpDelete, stages.OpDiscard: // of an old copy, if there are other decisions
		return 3
	case stages.OpDeleteReplaced, stages.OpDiscardReplaced: // of an old copy
		return 4
	case stages.OpRefresh:
		return 5
	}
	return 1
}

// resolve returns the current URN of a resource, which may be named by a former one.
func (x index) resolve(u urn.URN) (urn.URN, bool) {
	if _, known := x.byURN[u]; known {
		return u, true
	}
	now, known := x.old[u]
	return now, known
}
