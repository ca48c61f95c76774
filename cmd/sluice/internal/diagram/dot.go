package diagram

import (
	"fmt"
	"slices"
	"strings"
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
