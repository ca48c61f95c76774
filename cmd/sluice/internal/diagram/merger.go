package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

const (
	// manySiblings is the number of resources of one type with the same neighbours that share a box, whatever the limit.
	manySiblings = 12
	// maxNamed is the number of names in all merged boxes together, if there is a limit; each may have minNamed.
	maxNamed, minNamed = 1000, 20
)

// merger merges units into the boxes of a drawing.
type merger struct {
	units   *units
	by      Merging // "" for only large groups of siblings
	options Options
}

// draw merges units into a drawing.
func (m merger) draw() *Drawing {
	out := &Drawing{title: m.units.diagram.title(), legend: m.units.diagram.legend(), frames: m.units.frames, waves: m.units.diagram.Waves}
	if m.by == OfPackage || m.by == OfChange {
		out.frames = nil
	}
	at := make([]int, len(m.units.boxes))
	keys := map[boxKey]int{}
	for i, k := range m.keys() {
		u := m.units.boxes[i]
		j, known := keys[k]
		if !known {
			j = len(out.boxes)
			keys[k] = j
			u.key, u.frame, u.wave, u.members = k, k.frame, k.wave, slices.Clone(u.members)
			u.heads = slices.Clone(u.heads)
			out.boxes = append(out.boxes, u)
		} else {
			out.boxes[j].members = append(out.boxes[j].members, u.members...)
			out.boxes[j].heads = append(out.boxes[j].heads, u.heads...)
			out.boxes[j].shape = ofMany
		}
		at[i] = j
	}
	most := m.mostNames(out.boxes)
	for i := range out.boxes {
		if out.boxes[i].shape == ofMany {
			out.Merged = m.by
			m.describe(&out.boxes[i], most)
		}
	}
	out.arrows = arrows(m.units.arrows, at)
	return out
}

// mostNames returns how many names are in each box of several resources.
func (m merger) mostNames(boxes []box) int {
	switch {
	case m.units.diagram.isCollapsed(m.options):
		return 0
	case m.options.Limit == 0:
		return len(m.units.diagram.Nodes)
	}
	many := 0
	for _, b := range boxes {
		if b.shape == ofMany {
			many++
		}
	}
	return max(minNamed, maxNamed/max(1, many))
}

// keys returns the key of each unit for a merging. If waves are shown, large groups of siblings need not have the same neighbours: these are
// in other waves, and a wave needs the room.
func (m merger) keys() []boxKey {
	out := make([]boxKey, len(m.units.boxes))
	neighbours := m.neighbours()
	siblings := map[boxKey]int{}
	for i, u := range m.units.boxes {
		out[i] = u.key.merged(m.by)
		if m.by == Twins || m.by == "" && m.units.diagram.Waves == 0 {
			out[i].neighbours = neighbours[i]
		}
		siblings[out[i]]++
		if m.by == OfType && u.apart {
			out[i].neighbours = strconv.Itoa(i)
		}
	}
	for i, k := range out {
		if m.by == "" && siblings[k] <= manySiblings {
			out[i].neighbours = strconv.Itoa(i)
		}
	}
	return out
}

// neighbours describes the neighbours of each unit, if the merging is by siblings.
func (m merger) neighbours() []string {
	if m.by != "" && m.by != Twins {
		return nil
	}
	ends := make([][]string, len(m.units.boxes))
	for _, a := range m.units.arrows {
		ends[a.from] = append(ends[a.from], fmt.Sprintf(">%d/%d", a.to, a.kind))
		ends[a.to] = append(ends[a.to], fmt.Sprintf("<%d/%d", a.from, a.kind))
	}
	out := make([]string, len(m.units.boxes))
	for i, texts := range ends {
		slices.Sort(texts)
		out[i] = strings.Join(slices.Compact(texts), "")
	}
	return out
}

// describe sets the texts of a box of several units, which contains at most so many of their names.
func (m merger) describe(b *box, most int) {
	var names []string
	for _, i := range b.heads {
		names = append(names, shown(m.units.diagram.Nodes[i].Name))
	}
	slices.SortFunc(names, natural.Compare)
	what := shown(string(b.key.typ.Short()))
	switch m.by {
	case OfPackage:
		what = "of package " + shown(string(b.key.typ))
	case OfChange:
		what = "resources"
	}
	text := fmt.Sprintf("%s × %s", format.Thousands(len(b.heads)), what)
	b.name = text
	if b.change != "" {
		text = marks[b.change] + " " + text
	}
	if b.uncertain {
		text += " (possibly)"
	}
	if b.key.trouble != "" {
		text += " (" + string(b.key.trouble) + ")"
	}
	b.lines = []string{text, names[0] + " … " + names[len(names)-1]}
	if more := len(b.members) - len(b.heads); more > 0 {
		b.lines = append(b.lines, "with "+format.PluralThousands(more, "resource", "resources")+" in them")
	}
	switch more := len(names) - most; {
	case most == 0:
	case more > 0:
		b.names = append(slices.Clone(names[:most]), fmt.Sprintf("and %s more", format.Thousands(more)))
	default:
		b.names = names
	}
	const mostTips = 20
	b.tip = strings.Join(names[:min(mostTips, len(names))], "\n")
	if more := len(names) - mostTips; more > 0 {
		b.tip += fmt.Sprintf("\nand %s more", format.Thousands(more))
	}
}

// arrows returns the arrows between boxes, each once, with the strongest kind.
func arrows(all []arrow, at []int) []arrow {
	var out []arrow
	for _, a := range all {
		if a.from, a.to = at[a.from], at[a.to]; a.from != a.to {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(x, y arrow) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.kind, y.kind))
	})
	return slices.CompactFunc(out, func(x, y arrow) bool { return x.from == y.from && x.to == y.to })
}

// boxKey has the properties that boxes must share to be merged.
type boxKey struct {
	typ        urn.Type
	change     Change
	done       Change
	uncertain  bool
	old        bool
	trouble    Trouble
	wave       int
	frame      int
	neighbours string
}

// merged returns the part of a key that a merging compares.
func (k boxKey) merged(m Merging) boxKey {
	switch m {
	case OfPackage:
		k.typ, k.frame = urn.Type(packageOf(k.typ)), none
	case OfChange:
		k = boxKey{change: k.change, done: k.done, frame: none}
	}
	return k
}

func packageOf(t urn.Type) string {
	if t.IsProvider() {
		return t.ProviderPackage()
	}
	return t.Package()
}
