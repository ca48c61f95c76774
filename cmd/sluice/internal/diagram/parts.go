package diagram

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// Sizes of the parts of a large picture.
const (
	// maxTogether is the number of boxes up to which a picture is drawn as one graph.
	maxTogether = 100
	// maxPart is the number of boxes in a part of a larger picture, if no frame has more.
	maxPart = 40
	// maxNeeds is how many boxes of other parts a box names.
	maxNeeds = 3
)

// parts are the parts of a large picture, drawn beside each other. One layer of a thousand boxes would be an unreadable column.
type parts struct {
	of   []int // by box, another box of its part or the box itself
	size []int // the size of the part, at the box that represents it
}

// division is a drawing that is divided into parts.
type division struct {
	drawn   []arrow
	named   [][]arrow // by box, the arrows to it that are written as names; nil if all arrows are drawn
	columns int       // the number of columns of parts
}

// divide divides a drawing into parts. It draws the arrows within a part. Of an arrow between parts, the box at the end has the name of the box at
// the beginning. The arrows from one box are all drawn or all named; those from boxes with few dependents are drawn first.
func divide(d *Drawing) division {
	if d.waves > 0 || len(d.boxes) <= maxTogether {
		return division{drawn: d.arrows}
	}
	out := division{named: make([][]arrow, len(d.boxes))}
	p := newParts(d)
	var from [][]arrow
	for _, all := range d.arrows { // they are sorted
		if n := len(from); n > 0 && from[n-1][0].from == all.from {
			from[n-1] = append(from[n-1], all)
		} else {
			from = append(from, []arrow{all})
		}
	}
	slices.SortStableFunc(from, func(a, b []arrow) int { return cmp.Compare(len(a), len(b)) })
	for _, list := range from {
		if p.join(list) {
			out.drawn = append(out.drawn, list...)
			continue
		}
		for _, a := range list {
			out.named[a.to] = append(out.named[a.to], a)
		}
	}
	out.columns = p.columns(out.drawn)
	return out
}

// columns returns the number of parts side by side that makes the picture about as high as it is wide.
func (p *parts) columns(drawn []arrow) int {
	const boxWidth, boxHeight, wideness = 4.5, 1.0, 1.5 // of a box with its margin, and of the picture
	var width, height float64
	number := 0
	layers := p.layers(drawn)
	sizes := map[[2]int]int{} // of each layer of each part
	for i, layer := range layers {
		sizes[[2]int{p.find(i), layer}]++
	}
	for root := range p.of {
		if p.find(root) != root {
			continue
		}
		deep, tall := 0, 0
		for sizes[[2]int{root, deep}] > 0 {
			tall = max(tall, sizes[[2]int{root, deep}])
			deep++
		}
		width, height, number = width+boxWidth*float64(deep), height+boxHeight*float64(tall), number+1
	}
	return max(1, int(math.Round(math.Sqrt(wideness*float64(number)*height/width))))
}

// layers returns the layer of each box: the one behind the last layer of its needs.
func (p *parts) layers(drawn []arrow) []int {
	out, open := make([]int, len(p.of)), make([]int, len(p.of))
	next := make([][]int, len(p.of))
	for _, a := range drawn {
		next[a.from] = append(next[a.from], a.to)
		open[a.to]++
	}
	var ready []int
	for i, n := range open {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		for _, j := range next[i] {
			out[j] = max(out[j], out[i]+1)
			if open[j]--; open[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	return out
}

// newParts returns one part for each box, except that the boxes in one outermost frame are one part.
func newParts(d *Drawing) *parts {
	p := &parts{of: make([]int, len(d.boxes)), size: make([]int, len(d.boxes))}
	first := map[int]int{} // the first box in each outermost frame
	for i, b := range d.boxes {
		p.of[i], p.size[i] = i, 1
		if b.frame == none {
			continue
		}
		outermost := b.frame
		for d.frames[outermost].parent != none {
			outermost = d.frames[outermost].parent
		}
		if j, known := first[outermost]; known {
			p.unite(j, i)
		} else {
			first[outermost] = i
		}
	}
	return p
}

func (p *parts) find(i int) int {
	for p.of[i] != i {
		p.of[i] = p.of[p.of[i]]
		i = p.of[i]
	}
	return i
}

func (p *parts) unite(i, j int) {
	if i, j = p.find(i), p.find(j); i != j {
		p.of[i] = j
		p.size[j] += p.size[i]
	}
}

// join merges the parts at the ends of the arrows from one box, unless the result would be too large.
func (p *parts) join(list []arrow) bool {
	roots := []int{p.find(list[0].from)}
	for _, a := range list {
		roots = append(roots, p.find(a.to))
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	total := 0
	for _, r := range roots {
		total += p.size[r]
	}
	if len(roots) > 1 && total > maxPart {
		return false
	}
	for _, r := range roots {
		p.unite(roots[0], r)
	}
	return true
}

// needs returns the lines of a box about its needs in other parts: "needs vpc, db", "provider eu".
func needs(boxes []box, named []arrow) []string {
	var out []string
	for _, kind := range []arrowKind{needsIt, isProvider, isParent} {
		var names []string
		for _, a := range named {
			if a.kind == kind {
				names = append(names, boxes[a.from].name)
			}
		}
		if len(names) == 0 {
			continue
		}
		if more := len(names) - maxNeeds; more > 0 {
			names = append(names[:maxNeeds], format.Thousands(more)+" more")
		}
		out = append(out, arrowWords[kind]+" "+strings.Join(names, ", "))
	}
	return out
}

var arrowWords = map[arrowKind]string{needsIt: "needs", isProvider: "provider", isParent: "parent"}
