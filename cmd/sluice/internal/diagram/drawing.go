package diagram

import (
	"context"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
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
