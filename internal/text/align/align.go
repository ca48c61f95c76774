package align

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Pair has the indices of an element of the old sequence and of the one of the new sequence that continues it.
type Pair struct{ Old, New int }

// Common returns a common subsequence of two sequences, in ascending order. It first pairs elements that occur once in each, as
// anchors. Between two anchors, the search gives up after a hundred differences.
func Common(old, new []string) []Pair {
	var out []Pair
	add := func(o, n, length int) {
		for i := range length {
			out = append(out, Pair{o + i, n + i})
		}
	}
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	add(0, 0, head)
	o, n := head, head
	for _, anchor := range append(anchors(old, new, head, tail), Pair{len(old) - tail, len(new) - tail}) {
		between(old[o:anchor.Old], new[n:anchor.New], func(x, y, length int) { add(o+x, n+y, length) })
		if anchor.Old < len(old)-tail {
			add(anchor.Old, anchor.New, 1)
		}
		o, n = anchor.Old+1, anchor.New+1
	}
	add(len(old)-tail, len(new)-tail, tail)
	return out
}

// between finds the common parts of two sequences without anchors.
func between(old, new []string, found func(old, new, length int)) {
	if len(old) == 0 || len(new) == 0 {
		return
	}
	o, n := 0, 0
	for _, d := range lcs.DiffLines(old, new) {
		found(o, n, d.Start-o)
		o, n = d.End, d.ReplEnd
	}
	found(o, n, len(old)-o)
}

// anchors pairs the elements that occur once in each sequence, without pairs that cross others. It ignores the first head and the
// last tail elements.
func anchors(old, new []string, head, tail int) []Pair {
	type places struct{ inOld, inNew, old, new int }
	of := map[string]*places{}
	for i, e := range old[head : len(old)-tail] {
		p := of[e]
		if p == nil {
			p = &places{}
			of[e] = p
		}
		p.inOld++
		p.old = head + i
	}
	for i, e := range new[head : len(new)-tail] {
		if p := of[e]; p != nil {
			p.inNew++
			p.new = head + i
		}
	}
	var candidates []Pair
	for i, e := range old[head : len(old)-tail] {
		if p := of[e]; p.inOld == 1 && p.inNew == 1 {
			candidates = append(candidates, Pair{head + i, p.new})
		}
	}
	return Ascending(candidates)
}

// Ascending returns a longest subsequence of pairs whose new indices ascend. The old indices of pairs ascend, and no new one occurs
// twice.
func Ascending(pairs []Pair) []Pair {
	var ends []int                    // for each length, the smallest possible last element of an ascending sequence
	before := make([]int, len(pairs)) // the predecessor of each element in its sequence
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(ends, p.New, func(j, n int) int { return pairs[j].New - n })
		before[i] = -1
		if at > 0 {
			before[i] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, i)
		} else {
			ends[at] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([]Pair, len(ends))
	for i, at := ends[len(ends)-1], len(ends)-1; i >= 0; i, at = before[i], at-1 {
		out[at] = pairs[i]
	}
	return out
}
