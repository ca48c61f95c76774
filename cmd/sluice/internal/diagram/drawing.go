package diagram

import (
	"cmp"
	"context"
	"fmt"
	"html"
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
	// Open is the part of a large diagram whose resources are not merged.
	Open Part
}

// Part is a part of a large diagram, "" for none.
type Part string

// The parts whose resources are drawn one by one.
const (
	ChangedAndNeighbours Part = "those that change and their neighbours"
	ChangedOnly          Part = "those that change"
	FailedAndNeighbours  Part = "those that failed and their neighbours"
	FailedOnly           Part = "those that failed"
)

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
	// Expand draws a frame around the contents of each component. Otherwise a component is one box, unless it is small or has changes in it.
	Expand bool
	// Limit is the largest number of boxes, 0 for no limit. Resources are merged until there are no more boxes than that.
	Limit int
}

const (
	// manySiblings is the number of resources of one type with the same neighbours that share a box, whatever the limit.
	manySiblings = 12
	// maxNamed is the number of names in all merged boxes together, if there is a limit; each may have minNamed.
	maxNamed, minNamed = 1000, 20
	// large is the number of resources from which a diagram is drawn collapsed.
	large = 300
	// smallComponent is the number of resources in a component up to which it is drawn open, if there is room.
	smallComponent = 8
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
	trouble   Trouble // the worst
	apart     bool    // one of its members is in the open part
	wave      int
	frame     int // none for the picture itself
	key       boxKey
}

// style returns the colours of a box. A component that contains a failure has its border.
func (b *box) style() style {
	s := styles[b.done]
	switch {
	case b.trouble.isFailure() && b.done != "":
		s.border = failedStyle.border
	case b.trouble.isFailure():
		s = failedStyle
	case b.trouble != "" && b.done == "":
		s = skippedStyle
	}
	return s
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
		return dotLabel(strings.Join(b.lines, "\n"))
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
	trouble    Trouble
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
	border string // its colour
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

// DOT returns the drawing in the language of Graphviz. Edges run from a resource to those that need it.
func (d *Drawing) DOT() string { return dotOf(d, shownSizes) }

// Mermaid returns the drawing as a Mermaid flowchart, which many code hosts show in Markdown.
func (d *Drawing) Mermaid() string { return mermaidOf(d) }

// SVG returns the drawing as an SVG image. Pointing at a box shows the URN.
func (d *Drawing) SVG(ctx context.Context) ([]byte, error) { return svgOf(ctx, d) }

// PNG returns the drawing as a PNG image. Its font has the letters of Latin, Greek and Cyrillic.
func (d *Drawing) PNG(ctx context.Context) ([]byte, error) { return pngOf(ctx, d) }

// arrangement is a way to draw components.
type arrangement struct {
	// flat draws a component like any other resource, beside its contents.
	flat bool
	// open has the components that are frames around their contents; the others are one box with their contents. A component in one
	// that is not open is not open either.
	open []bool
	// apart has the resources that are not merged with others of their type, unless the merging is coarser.
	apart []bool
}

func (a arrangement) isOpen(i int) bool { return a.open != nil && a.open[i] }

func (a arrangement) isApart(i int) bool { return a.apart != nil && a.apart[i] }

// isCollapsed reports whether each component is one box.
func (a arrangement) isCollapsed() bool { return !a.flat && a.open == nil }

// painter makes the drawings of one diagram in one arrangement.
type painter struct {
	diagram *Diagram
	units   []box // before any are merged
	unit    []int // of each node, none for a component that is only a frame
	frames  []frame
	arrows  []arrow // between units
}

func newPainter(d *Diagram, a arrangement) *painter {
	p := &painter{diagram: d, unit: make([]int, len(d.Nodes))}
	frames := p.addFrames(a)
	ends := p.ends()
	for i := range d.Nodes {
		p.unit[i] = none
	}
	for i := range d.Nodes {
		at := p.holder(i, a)
		if frames[i] != none && !ends[i] {
			continue
		}
		if p.unit[at] == none {
			p.unit[at] = len(p.units)
			p.units = append(p.units, box{frame: p.frameOf(at, frames)})
		}
		p.unit[i] = p.unit[at]
		u := &p.units[p.unit[at]]
		u.members = append(u.members, i)
		u.apart = u.apart || a.isApart(i)
	}
	p.connectUnits()
	for i := range p.units {
		p.describe(&p.units[i])
	}
	return p
}

// addFrames adds the frames, and returns the frame of each component that has one, and none for all other nodes.
func (p *painter) addFrames(a arrangement) []int {
	at := make([]int, len(p.diagram.Nodes))
	inside := make([]bool, len(p.diagram.Nodes))
	for i := range p.diagram.Nodes {
		at[i] = none
		if c := p.diagram.component(i); c != none && a.isOpen(c) {
			inside[c] = true
		}
	}
	for i, n := range p.diagram.Nodes {
		if inside[i] {
			at[i] = len(p.frames)
			p.frames = append(p.frames, frame{title: p.label(n) + "\n" + shown(string(n.Type.Short())), tip: tip(n.URN), border: n.border()})
		}
	}
	for i := range p.diagram.Nodes {
		if at[i] != none {
			p.frames[at[i]].parent = none
			if c := p.diagram.component(i); c != none {
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
	if c := p.diagram.component(i); c != none {
		return frames[c]
	}
	return none
}

// isOutermost reports whether no component around a node is in the same box.
func (p *painter) isOutermost(i int) bool {
	c := p.diagram.component(i)
	return c == none || p.unit[c] != p.unit[i]
}

// ends reports which nodes are the end of an edge.
func (p *painter) ends() []bool {
	out := make([]bool, len(p.diagram.Nodes))
	for _, e := range p.diagram.Edges {
		out[e.Node], out[e.On] = true, true
	}
	return out
}

// holder returns the node whose box has a node: the outermost component around it that is not open, or the node itself.
func (p *painter) holder(i int, a arrangement) int {
	at := i
	if a.flat {
		return at
	}
	for c := p.diagram.component(i); c != none; c = p.diagram.component(c) {
		if !a.isOpen(c) {
			at = c
		}
	}
	return at
}

func (p *painter) connectUnits() {
	for _, e := range p.diagram.Edges {
		kind := needsIt
		if e.Kind == Provider {
			kind = isProvider
		}
		p.connect(e.On, e.Node, kind)
	}
	for i, n := range p.diagram.Nodes {
		if n.Parent != none {
			p.connect(n.Parent, i, isParent)
		}
	}
}

// connect draws an arrow between the units of two nodes. A frame has no arrow to its children: it encloses them.
func (p *painter) connect(from, to int, kind arrowKind) {
	if p.unit[from] == none || p.unit[to] == none || kind == isParent && p.diagram.Nodes[from].Component && p.diagram.Waves == 0 {
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
		n := p.diagram.Nodes[i]
		if n.Component && p.isOutermost(i) {
			head = i // a parent may come after its children in a plan
		}
		b.change = worse(b.change, n.Change)
		if n.Trouble == "" {
			b.done = worse(b.done, n.Change)
		}
		b.uncertain = b.uncertain || n.Uncertain
		b.trouble = worseTrouble(b.trouble, n.Trouble)
	}
	first := p.diagram.Nodes[head]
	b.wave = first.Wave
	b.heads = []int{head}
	b.tip = tip(first.URN)
	b.name = shown(first.Name)
	b.lines = []string{p.label(first), shown(string(first.Type.Short()))}
	switch {
	case first.Component:
		b.shape = ofComponent
		if b.trouble != "" && first.Trouble == "" {
			b.lines[0] += " (" + string(b.trouble) + " inside)"
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
		text += " (" + string(n.Trouble) + ")"
	}
	return text
}

// contents counts the resources in a component, without the component itself.
func (p *painter) contents(members []int) string {
	var t tally
	for _, i := range members {
		t.count(p.diagram.Nodes[i])
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
	troubles map[Trouble]int
	planned  map[Change]bool // also of resources in trouble
}

func (t *tally) count(n Node) {
	if t.changes == nil {
		t.changes, t.troubles, t.planned = map[Change]int{}, map[Trouble]int{}, map[Change]bool{}
	}
	t.planned[n.Change] = true
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
	for _, trouble := range byTrouble {
		if n := t.troubles[trouble]; n > 0 {
			out = append(out, fmt.Sprintf("%s %s", thousands(n), trouble))
		}
	}
	return out
}

// marks returns the marks of the changes with their names.
func (t *tally) marks() []string {
	var out []string
	for _, c := range byDanger {
		if t.planned[c] {
			out = append(out, fmt.Sprintf("%s %s", marks[c], c))
		}
	}
	return out
}

// draw merges units into a drawing. Without a merging, only large groups of siblings share a box.
func (p *painter) draw(m Merging, o Options) *Drawing {
	out := &Drawing{title: p.diagram.title(), legend: p.diagram.legend(), frames: p.frames, waves: p.diagram.Waves}
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
	most := p.mostNames(out.boxes, o)
	for i := range out.boxes {
		if out.boxes[i].shape == ofMany {
			out.Merged = m
			p.describeMany(&out.boxes[i], m, most)
		}
	}
	out.arrows = arrows(p.arrows, at)
	return out
}

// mostNames returns how many names are in each box of several resources.
func (p *painter) mostNames(boxes []box, o Options) int {
	switch {
	case p.diagram.isCollapsed(o):
		return 0
	case o.Limit == 0:
		return len(p.diagram.Nodes)
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
func (p *painter) keys(m Merging) []boxKey {
	out := make([]boxKey, len(p.units))
	neighbours := p.neighboursOf(m)
	siblings := map[boxKey]int{}
	for i, u := range p.units {
		out[i] = u.key.merged(m)
		if m == Twins || m == "" && p.diagram.Waves == 0 {
			out[i].neighbours = neighbours[i]
		}
		siblings[out[i]]++
		if m == OfType && u.apart {
			out[i].neighbours = strconv.Itoa(i)
		}
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

// describeMany sets the texts of a box of several units, which contains at most so many of their names.
func (p *painter) describeMany(b *box, m Merging, most int) {
	var names []string
	for _, i := range b.heads {
		names = append(names, shown(p.diagram.Nodes[i].Name))
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
		text += " (" + string(b.key.trouble) + ")"
	}
	b.lines = []string{text, names[0] + " … " + names[len(names)-1]}
	if more := len(b.members) - len(b.heads); more > 0 {
		b.lines = append(b.lines, "with "+count(more, "resource", "resources")+" in them")
	}
	switch more := len(names) - most; {
	case most == 0:
	case more > 0:
		b.names = append(slices.Clone(names[:most]), fmt.Sprintf("and %s more", thousands(more)))
	default:
		b.names = names
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
