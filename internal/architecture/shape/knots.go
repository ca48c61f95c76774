package shape

import (
	"cmp"
	"slices"
)

// Knot returns the largest set of files that need each other, sorted. It is a single file if no two do. Among several
// equally large sets it is the one whose first file comes first.
func (p Package) Knot() []string {
	knots := p.knots(p.Needs)
	if len(knots) == 0 {
		return nil
	}
	return knots[0]
}

// KnotLimit returns the limit on the number of files of the package that need each other.
func (p Package) KnotLimit() int { return max(smallKnot, len(p.Files)/knotShare) }

// Cuts returns a set of needs without which no knot of the package is above the limit. All of them have to go. It is a
// hint where to begin, found by a heuristic that avoids needs with many references; those with the fewest come first.
func (p Package) Cuts() []Need {
	var cuts []Need
	for _, knot := range p.knots(p.Needs) {
		if len(knot) > p.KnotLimit() {
			cuts = append(cuts, upward(knot, p.Needs)...)
		}
	}
	// Needs that do no harm stay, the heaviest first.
	slices.SortStableFunc(cuts, func(a, b Need) int { return cmp.Compare(b.Refs, a.Refs) })
	for i := 0; i < len(cuts); {
		fewer := slices.Delete(slices.Clone(cuts), i, i+1)
		if len(p.knots(without(p.Needs, fewer))[0]) <= p.KnotLimit() {
			cuts = fewer
		} else {
			i++
		}
	}
	slices.Reverse(cuts)
	return cuts
}

func without(needs, cuts []Need) []Need {
	return slices.DeleteFunc(slices.Clone(needs), func(n Need) bool {
		return slices.ContainsFunc(cuts, func(c Need) bool { return c.From == n.From && c.To == n.To })
	})
}

// upward orders the files of a knot so that each is above what it needs, as far as possible, and returns the needs that
// point up: without them there is no knot. It is the heuristic of Eades, Lin and Smyth (1993), with references as
// weights.
func upward(files []string, needs []Need) []Need {
	left := make(map[string]bool)
	for _, file := range files {
		left[file] = true
	}
	var among []Need
	for _, n := range needs {
		if left[n.From] && left[n.To] {
			among = append(among, n)
		}
	}
	floor := make(map[string]int) // the lower a file, the greater
	for lowest, highest := len(files), 0; len(left) > 0; {
		file, low := next(files, left, among)
		if low {
			floor[file] = lowest
			lowest--
		} else {
			floor[file] = highest
			highest++
		}
		delete(left, file)
	}
	return slices.DeleteFunc(among, func(n Need) bool { return floor[n.From] < floor[n.To] })
}

// next chooses one of the remaining files: one that needs no other, or else the one that needs most and is needed least.
// It reports whether the file is to be placed below the others.
func next(files []string, left map[string]bool, needs []Need) (file string, low bool) {
	out, in := make(map[string]int), make(map[string]int)
	for _, n := range needs {
		if left[n.From] && left[n.To] {
			out[n.From] += n.Refs
			in[n.To] += n.Refs
		}
	}
	for _, f := range files {
		if left[f] && out[f] == 0 {
			return f, true
		}
	}
	for _, f := range files {
		if left[f] && (file == "" || out[f]-in[f] > out[file]-in[file]) {
			file = f
		}
	}
	return file, false
}

// knots returns the strongly connected components of the files, the largest first, by the algorithm of Tarjan (1972).
func (p Package) knots(needs []Need) [][]string {
	t := tarjan{to: make(map[string][]string), index: make(map[string]int), low: make(map[string]int), open: make(map[string]bool)}
	for _, n := range needs {
		t.to[n.From] = append(t.to[n.From], n.To)
	}
	for _, file := range p.Files {
		if t.index[file] == 0 {
			t.visit(file)
		}
	}
	for _, knot := range t.found {
		slices.Sort(knot)
	}
	slices.SortFunc(t.found, func(a, b []string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0])) })
	return t.found
}

type tarjan struct {
	to    map[string][]string
	index map[string]int // from 1 on, in the order of visits
	low   map[string]int // the smallest index that is known to be reachable
	open  map[string]bool
	stack []string // what is open
	found [][]string
}

func (t *tarjan) visit(file string) {
	t.index[file] = len(t.index) + 1
	t.low[file] = t.index[file]
	t.stack = append(t.stack, file)
	t.open[file] = true
	for _, to := range t.to[file] {
		if t.index[to] == 0 {
			t.visit(to)
			t.low[file] = min(t.low[file], t.low[to])
		} else if t.open[to] {
			t.low[file] = min(t.low[file], t.index[to])
		}
	}
	if t.low[file] < t.index[file] {
		return
	}
	begin := slices.Index(t.stack, file)
	knot := slices.Clone(t.stack[begin:])
	t.stack = t.stack[:begin]
	for _, f := range knot {
		delete(t.open, f)
	}
	t.found = append(t.found, knot)
}
