package diagram

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/urn"
)

// Drawing is a diagram reduced to the boxes and arrows of a picture.
type Drawing struct {
	title  string
	legend string
	boxes  []box
	frames []frame // parents first
	arrows []arrow
	waves  int
	// Merged is the merging of resources into boxes, apart from those in components; "" if none are merged.
	Merged Merging
	// Collapsed reports whether components are collapsed although Expand is set, because the picture would be too large.
	Collapsed bool
}

// Merging is a way to merge resources into boxes when there are too many for a picture.
type Merging string

// The ways to merge resources, each with what they have in common.
const (
	Twins     Merging = "type and neighbours"
	OfType    Merging = "type and component"
	OfPackage Merging = "package"
	OfChange  Merging = "change"
)

// Options select what a drawing shows.
type Options struct {
	// Expand draws a frame around the contents of a component; otherwise a component is one box.
	Expand bool
	// Limit is the largest number of boxes, 0 for no limit. Resources are merged until there are no more boxes than that.
	Limit int
}

// Limits on the names in one box.
const (
	// manySiblings is the number of resources of one type with the same neighbours that share a box, whatever the limit. The box has all
	// their names.
	manySiblings = 12
	// maxNamed is the number of names in all merged boxes together, if there is a limit; each may have minNamed.
	maxNamed, minNamed = 1000, 20
)

// box is one or more resources.
type box struct {
	members   []int // nodes
	heads     []int // the members that it is named after: one for each box merged into it
	shape     shape
	name      string // the name in other boxes
	lines     []string
	tip       string   // the text shown when the pointer is over the box
	names     []string // of the resources merged into it
	change    Change   // the worst that is planned
	done      Change   // the worst of those that are in no trouble
	uncertain bool
	trouble   string // of one of its members
	wave      int
	frame     int // none for the picture itself
	key       boxKey
}

// dotWidth sets the minimal width of a box whose lines have mathematical signs to their width in DejaVu Sans. Those signs are nearly half as wide
// again as in Helvetica, for which Graphviz plans.
func (b *box) dotWidth() string {
	const sign, other, margin = 0.84, 0.62, 0.3 // of the size of the text; inches
	widest := 0.0
	for _, line := range b.lines {
		signs := strings.Count(line, "<") + strings.Count(line, ">") + strings.Count(line, "=") + strings.Count(line, "+") + strings.Count(line, "~")
		if n := utf8.RuneCountInString(line); signs > 2 { // the mark of a change is one of the signs
			widest = max(widest, sign*float64(signs)+other*float64(n-signs))
		}
	}
	if widest == 0 {
		return ""
	}
	return fmt.Sprintf(", width=%.2f", widest*shownSizes.text/72+margin)
}

// dotLabel returns the lines of a box. A box of many resources has their names in a table that is about as high as it is wide.
func (b *box) dotLabel() string {
	if len(b.names) == 0 {
		return dotText(strings.Join(b.lines, "\n"))
	}
	lines := append(b.lines[:1:1], b.lines[2:]...) // without the first and the last name
	widest := 0
	for _, name := range b.names {
		widest = max(widest, utf8.RuneCountInString(name))
	}
	const letter, padding, row, wideness = 6.0, 14.0, 19.0, 1.5 // points, and how much wider than high
	columns := int(math.Ceil(math.Sqrt(wideness * row * float64(len(b.names)) / (letter*float64(widest) + padding))))
	var out strings.Builder
	fmt.Fprintf(&out, `<<table border="0" cellborder="1" cellspacing="3" cellpadding="3" color=%q>`, lineColor)
	for _, line := range lines {
		fmt.Fprintf(&out, `<tr><td border="0" colspan="%d">%s</td></tr>`, columns, html.EscapeString(line))
	}
	for row := range slices.Chunk(b.names, columns) {
		out.WriteString("<tr>")
		for _, name := range row {
			fmt.Fprintf(&out, `<td bgcolor="#ffffff">%s</td>`, html.EscapeString(name))
		}
		out.WriteString("</tr>")
	}
	out.WriteString("</table>>")
	return out.String()
}

// boxKey has the properties that boxes must share to be merged.
type boxKey struct {
	typ        urn.Type
	change     Change
	done       Change
	uncertain  bool
	old        bool
	trouble    string
	wave       int
	frame      int
	neighbours string
}

type shape int

const (
	ofResource shape = iota
	ofProvider
	ofComponent
	ofMany
)

// frame is a component with its contents.
type frame struct {
	title  string
	tip    string
	change Change
	parent int
}

// arrow runs from a box to one that needs it.
type arrow struct {
	from, to int
	kind     arrowKind
}

type arrowKind int

const (
	needsIt arrowKind = iota
	isProvider
	isParent
)

// Boxes returns how many boxes the drawing has.
func (d *Drawing) Boxes() int { return len(d.boxes) }

// Heads returns the node that each box is named after, by the number of the box.
func (d *Drawing) Heads() []int {
	out := make([]int, len(d.boxes))
	for i, b := range d.boxes {
		out[i] = b.heads[0]
	}
	return out
}

// Arrows returns how many arrows the drawing has.
func (d *Drawing) Arrows() int { return len(d.arrows) }

// arrangement is a way to draw components.
type arrangement int

const (
	flat      arrangement = iota // a component is a resource like others
	collapsed                    // a component is one box with its contents
	framed                       // a component is a frame around its contents
)

// painter makes the drawings of one diagram in one arrangement.
type painter struct {
	*Diagram
	units  []box // before any are merged
	unit   []int // of each node, none for a component that is only a frame
	frames []frame
	arrows []arrow // between units
}

// addFrames adds the frames, and returns the frame of each component that has one, and none for all other nodes.
func (p *painter) addFrames(a arrangement) []int {
	at := make([]int, len(p.Nodes))
	inside := make([]bool, len(p.Nodes))
	for i := range p.Nodes {
		at[i] = none
		if c := p.component(i); a == framed && c != none {
			inside[c] = true
		}
	}
	for i, n := range p.Nodes {
		if inside[i] {
			at[i] = len(p.frames)
			p.frames = append(p.frames, frame{title: p.label(n) + "\n" + shown(string(n.Type.Short())), tip: tip(n.URN), change: n.Change})
		}
	}
	for i := range p.Nodes {
		if at[i] != none {
			p.frames[at[i]].parent = none
			if c := p.component(i); c != none {
				p.frames[at[i]].parent = at[c]
			}
		}
	}
	return at
}

// frameOf returns the frame around a node. A component that is a frame is in its own.
func (p *painter) frameOf(i int, frames []int) int {
	if frames[i] != none {
		return frames[i]
	}
	if c := p.component(i); c != none {
		return frames[c]
	}
	return none
}

// ends reports which nodes are the end of an edge.
func (p *painter) ends() []bool {
	out := make([]bool, len(p.Nodes))
	for _, e := range p.Edges {
		out[e.Node], out[e.On] = true, true
	}
	return out
}

// outermost returns the outermost component that a node is in, or the node itself.
func (p *painter) outermost(i int) int {
	at := i
	for c := p.component(i); c != none; c = p.component(c) {
		at = c
	}
	return at
}

func (p *painter) connectUnits() {
	for _, e := range p.Edges {
		kind := needsIt
		if e.Kind == Provider {
			kind = isProvider
		}
		p.connect(e.On, e.Node, kind)
	}
	for i, n := range p.Nodes {
		if n.Parent != none {
			p.connect(n.Parent, i, isParent)
		}
	}
}

// connect draws an arrow between the units of two nodes. A frame has no arrow to its children: it encloses them.
func (p *painter) connect(from, to int, kind arrowKind) {
	if p.unit[from] == none || p.unit[to] == none || kind == isParent && p.Nodes[from].Component && p.Waves == 0 {
		return
	}
	if a := (arrow{p.unit[from], p.unit[to], kind}); a.from != a.to {
		p.arrows = append(p.arrows, a)
	}
}

// describe sets the texts of a unit, before any are merged.
func (p *painter) describe(b *box) {
	head := b.members[0]
	for _, i := range b.members {
		n := p.Nodes[i]
		if n.Component && p.component(i) == none {
			head = i // a parent may come after its children in a plan
		}
		b.change = worse(b.change, n.Change)
		if n.Trouble == "" {
			b.done = worse(b.done, n.Change)
		}
		b.uncertain = b.uncertain || n.Uncertain
		b.trouble = cmp.Or(b.trouble, n.Trouble)
	}
	first := p.Nodes[head]
	b.wave = first.Wave
	b.heads = []int{head}
	b.tip = tip(first.URN)
	b.name = shown(first.Name)
	b.lines = []string{p.label(first), shown(string(first.Type.Short()))}
	switch {
	case first.Component:
		b.shape = ofComponent
		if b.trouble != "" && first.Trouble == "" {
			b.lines[0] += " (" + b.trouble + " inside)"
		}
		if len(b.members) > 1 {
			b.lines = append(b.lines, p.contents(b.members))
		}
	case first.Type.IsProvider():
		b.shape = ofProvider
	}
	b.key = boxKey{typ: first.Type, change: b.change, done: b.done, uncertain: b.uncertain, old: first.Old, trouble: b.trouble, wave: b.wave, frame: b.frame}
}

// label returns the name of a resource with its change.
func (p *painter) label(n Node) string {
	text := shown(n.Name)
	if n.Old {
		text += " (old copy)"
	}
	if n.Change != "" {
		text = marks[n.Change] + " " + text
	}
	if n.Uncertain {
		text += " (possibly)"
	}
	if n.Trouble != "" {
		text += " (" + n.Trouble + ")"
	}
	return text
}

// contents counts the resources in a component, without the component itself.
func (p *painter) contents(members []int) string {
	var t tally
	for _, i := range members {
		t.count(p.Nodes[i])
	}
	text := count(len(members)-1, "resource", "resources")
	if parts := t.parts(func(c Change, n int) string { return fmt.Sprintf("%s%d", marks[c], n) }); parts != nil {
		text += ": " + strings.Join(parts, " ")
	}
	return text
}

// tally counts resources by their change, or else by their trouble.
type tally struct {
	changes  map[Change]int
	troubles map[string]int
}

func (t *tally) count(n Node) {
	if t.changes == nil {
		t.changes, t.troubles = map[Change]int{}, map[string]int{}
	}
	if n.Trouble != "" {
		t.troubles[n.Trouble]++ // the change did not happen
	} else {
		t.changes[n.Change]++
	}
}

// parts formats the counts: changes with the function text, then troubles, as in "3 not reached".
func (t *tally) parts(text func(c Change, n int) string) []string {
	var out []string
	for _, c := range byDanger {
		if n := t.changes[c]; n > 0 {
			out = append(out, text(c, n))
		}
	}
	for _, trouble := range slices.Sorted(maps.Keys(t.troubles)) {
		out = append(out, fmt.Sprintf("%s %s", thousands(t.troubles[trouble]), trouble))
	}
	return out
}

// draw merges units into a drawing. Without a merging, only large groups of siblings share a box.
func (p *painter) draw(m Merging, o Options) *Drawing {
	out := &Drawing{title: p.title(), legend: p.legend(), frames: p.frames, waves: p.Waves}
	if m == OfPackage || m == OfChange {
		out.frames = nil
	}
	at := make([]int, len(p.units))
	keys := map[boxKey]int{}
	for i, k := range p.keys(m) {
		u := p.units[i]
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
	most := len(p.Nodes)
	if o.Limit > 0 {
		most = max(minNamed, maxNamed/max(1, out.boxesOfMany()))
	}
	for i := range out.boxes {
		if out.boxes[i].shape == ofMany {
			out.Merged = m
			p.describeMany(&out.boxes[i], m, most)
		}
	}
	out.arrows = arrows(p.arrows, at)
	return out
}

func (d *Drawing) boxesOfMany() int {
	n := 0
	for _, b := range d.boxes {
		if b.shape == ofMany {
			n++
		}
	}
	return n
}

// keys returns the key of each unit for a merging. If waves are shown, large groups of siblings need not have the same neighbours: these are
// in other waves, and a wave needs the room.
func (p *painter) keys(m Merging) []boxKey {
	out := make([]boxKey, len(p.units))
	neighbours := p.neighboursOf(m)
	siblings := map[boxKey]int{}
	for i, u := range p.units {
		out[i] = u.key.merged(m)
		if m == Twins || m == "" && p.Waves == 0 {
			out[i].neighbours = neighbours[i]
		}
		siblings[out[i]]++
	}
	for i, k := range out {
		if m == "" && siblings[k] <= manySiblings {
			out[i].neighbours = strconv.Itoa(i)
		}
	}
	return out
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

// neighboursOf describes the neighbours of each unit, if the merging is by siblings.
func (p *painter) neighboursOf(m Merging) []string {
	if m != "" && m != Twins {
		return nil
	}
	ends := make([][]string, len(p.units))
	for _, a := range p.arrows {
		ends[a.from] = append(ends[a.from], fmt.Sprintf(">%d/%d", a.to, a.kind))
		ends[a.to] = append(ends[a.to], fmt.Sprintf("<%d/%d", a.from, a.kind))
	}
	out := make([]string, len(p.units))
	for i, texts := range ends {
		slices.Sort(texts)
		out[i] = strings.Join(slices.Compact(texts), "")
	}
	return out
}

// describeMany sets the texts of a box of several units.
func (p *painter) describeMany(b *box, m Merging, most int) {
	var names []string
	for _, i := range b.heads {
		names = append(names, shown(p.Nodes[i].Name))
	}
	slices.SortFunc(names, natural.Compare)
	what := shown(string(b.key.typ.Short()))
	switch m {
	case OfPackage:
		what = "of package " + shown(string(b.key.typ))
	case OfChange:
		what = "resources"
	}
	text := fmt.Sprintf("%s × %s", thousands(len(b.heads)), what)
	b.name = text
	if b.change != "" {
		text = marks[b.change] + " " + text
	}
	if b.uncertain {
		text += " (possibly)"
	}
	if b.key.trouble != "" {
		text += " (" + b.key.trouble + ")"
	}
	b.lines = []string{text, names[0] + " … " + names[len(names)-1]}
	if more := len(b.members) - len(b.heads); more > 0 {
		b.lines = append(b.lines, "with "+count(more, "resource", "resources")+" in them")
	}
	b.names = names
	if more := len(names) - most; more > 0 {
		b.names = append(slices.Clone(names[:most]), fmt.Sprintf("and %s more", thousands(more)))
	}
	const mostTips = 20
	b.tip = strings.Join(names[:min(mostTips, len(names))], "\n")
	if more := len(names) - mostTips; more > 0 {
		b.tip += fmt.Sprintf("\nand %s more", thousands(more))
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
