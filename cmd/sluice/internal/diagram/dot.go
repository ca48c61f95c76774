package diagram

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	fontName  = "Helvetica,Arial,sans-serif"
	textColor = "#1f2328"
	lineColor = "#8c959f"
)

// sizes are font sizes, in points.
type sizes struct{ title, text float64 }

var (
	// shownSizes are the font sizes of the picture.
	shownSizes = sizes{title: 13, text: 11}
	// plannedSizes are the font sizes for the layout, if the reader's machine chooses the font: a substitute for Helvetica may be a fifth wider, such
	// as DejaVu Sans.
	plannedSizes = sizes{title: 15.6, text: 13.2}
)

// DOT returns the drawing in the language of Graphviz. Edges run from a resource to those that need it.
func (d *Drawing) DOT() string { return d.dot(shownSizes) }

func (d *Drawing) dot(z sizes) string {
	var b strings.Builder
	rank := "LR"
	if d.waves > 0 {
		rank = "RL" // the first resources are at the left
	}
	title := d.title
	if d.legend != "" {
		title += "\n" + d.legend
	}
	parts := d.divide()
	packed := ""
	if parts.named != nil {
		packed = fmt.Sprintf("pack=12, packmode=array_c%d, ", parts.columns)
	}
	fmt.Fprintf(&b, "digraph {\n")
	fmt.Fprintf(&b, "  graph [rankdir=%s, %sranksep=0.6, nodesep=0.18, pad=0.3, bgcolor=white, fontname=%q, fontsize=%g, fontcolor=%q, labelloc=t, labeljust=l, label=%s];\n",
		rank, packed, fontName, z.title, textColor, dotLines(title))
	fmt.Fprintf(&b, "  node [shape=box, style=filled, fontname=%q, fontsize=%g, fontcolor=%q, margin=\"0.14,0.07\", height=0.3];\n", fontName, z.text, textColor)
	fmt.Fprintf(&b, "  edge [color=%q, arrowsize=0.6];\n", lineColor)
	d.dotFrame(&b, z, none, parts.named, "  ")
	d.dotWaves(&b, z)
	for _, a := range parts.drawn {
		fmt.Fprintf(&b, "  %s -> %s%s;\n", nodeName(a.from), nodeName(a.to), dotArrow[a.kind])
	}
	b.WriteString("}\n")
	return b.String()
}

var dotArrow = map[arrowKind]string{needsIt: "", isProvider: " [style=dotted]", isParent: " [style=dashed]"}

// dotFrame writes the contents of a frame; none stands for the picture itself. named are the arrows that are written into boxes.
func (d *Drawing) dotFrame(b *strings.Builder, z sizes, within int, named [][]arrow, indent string) {
	for i, f := range d.frames {
		if f.parent != within {
			continue
		}
		fmt.Fprintf(b, "%ssubgraph cluster%d {\n", indent, i)
		fmt.Fprintf(b, "%s  label=%s; tooltip=%s; color=%q; style=\"rounded,filled\"; fillcolor=\"#f6f8fa\"; fontsize=%g;\n",
			indent, dotLines(f.title), dotText(f.tip), styles[f.change].border, z.text)
		d.dotFrame(b, z, i, named, indent+"  ")
		fmt.Fprintf(b, "%s}\n", indent)
	}
	for i, n := range d.boxes {
		if n.frame == within {
			border := styles[n.done].border
			if n.trouble != "" {
				border = styles[Delete].border
			}
			if named != nil {
				n.lines = slices.Concat(n.lines, d.needs(named[i]))
			}
			fmt.Fprintf(b, "%s%s [label=%s, tooltip=%s, fillcolor=%q, color=%q%s%s];\n", indent, nodeName(i), n.dotLabel(),
				dotText(n.tip), styles[n.done].fill, border, dotShape[n.shape], n.dotWidth())
		}
	}
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

var dotShape = map[shape]string{
	ofResource: "", ofProvider: `, style="filled,dashed"`, ofComponent: `, style="filled,rounded", penwidth=2`, ofMany: ", peripheries=2",
}

// dotWaves puts the boxes of a wave at one level, below the number of the wave.
func (d *Drawing) dotWaves(b *strings.Builder, z sizes) {
	members := make([][]string, d.waves+1)
	for i, n := range d.boxes {
		members[n.wave] = append(members[n.wave], nodeName(i))
	}
	for wave := 1; wave <= d.waves; wave++ {
		if len(members[wave]) == 0 {
			continue
		}
		fmt.Fprintf(b, "  w%d [label=\"wave %d\", shape=plaintext, style=\"\", fontsize=%g];\n", wave, wave, z.title)
		fmt.Fprintf(b, "  { rank=same; w%d; %s; }\n", wave, strings.Join(members[wave], "; "))
	}
	last := 0
	for wave := 1; wave <= d.waves; wave++ {
		if len(members[wave]) == 0 {
			continue
		}
		if last > 0 {
			fmt.Fprintf(b, "  w%d -> w%d [style=invis];\n", wave, last)
		}
		last = wave
	}
}
