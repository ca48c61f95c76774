package diagram

import (
	"fmt"
	"slices"
	"strings"
)

const fontName = "Helvetica,Arial,sans-serif"

// sizes are font sizes, in points.
type sizes struct{ title, text float64 }

var (
	// shownSizes are the font sizes of the picture.
	shownSizes = sizes{title: 13, text: 11}
	// plannedSizes are the font sizes for the layout, if the reader's machine chooses the font: a substitute for Helvetica may be a fifth wider, such
	// as DejaVu Sans.
	plannedSizes = sizes{title: 15.6, text: 13.2}
)

// dotText is the text of a drawing in the language of Graphviz.
type dotText struct {
	of    *Drawing
	sizes sizes
	named [][]arrow // by box, the arrows to it that are written as names; nil if all arrows are drawn
	out   strings.Builder
}

func dotOf(d *Drawing, z sizes) string {
	parts := divide(d)
	t := dotText{of: d, sizes: z, named: parts.named}
	rank := "LR"
	if d.waves > 0 {
		rank = "RL" // the first resources are at the left
	}
	packed := ""
	if parts.named != nil {
		packed = fmt.Sprintf("pack=12, packmode=array_c%d, ", parts.columns)
	}
	t.out.WriteString("digraph {\n")
	fmt.Fprintf(&t.out, "  graph [rankdir=%s, %sranksep=0.6, nodesep=0.18, pad=0.3, bgcolor=white, fontname=%q, fontsize=%g, fontcolor=%q, labelloc=t, labeljust=l, label=%s];\n",
		rank, packed, fontName, z.title, textColor, dotLines(strings.TrimSpace(d.title+"\n"+d.legend)))
	fmt.Fprintf(&t.out, "  node [shape=box, style=filled, fontname=%q, fontsize=%g, fontcolor=%q, margin=\"0.14,0.07\", height=0.3];\n", fontName, z.text, textColor)
	fmt.Fprintf(&t.out, "  edge [color=%q, arrowsize=0.6];\n", lineColor)
	t.frame(none, "  ")
	t.waves()
	for _, a := range parts.drawn {
		fmt.Fprintf(&t.out, "  %s -> %s%s;\n", nodeName(a.from), nodeName(a.to), dotArrow[a.kind])
	}
	t.out.WriteString("}\n")
	return t.out.String()
}

var dotArrow = map[arrowKind]string{needsIt: "", isProvider: " [style=dotted]", isParent: " [style=dashed]"}

// frame writes the contents of a frame; none stands for the picture itself.
func (t *dotText) frame(within int, indent string) {
	for i, f := range t.of.frames {
		if f.parent != within {
			continue
		}
		fmt.Fprintf(&t.out, "%ssubgraph cluster%d {\n", indent, i)
		fmt.Fprintf(&t.out, "%s  label=%s; tooltip=%s; color=%q; style=\"rounded,filled\"; fillcolor=\"#f6f8fa\"; fontsize=%g;\n",
			indent, dotLines(f.title), dotLabel(f.tip), f.border, t.sizes.text)
		t.frame(i, indent+"  ")
		fmt.Fprintf(&t.out, "%s}\n", indent)
	}
	for i, n := range t.of.boxes {
		if n.frame == within {
			t.box(i, n, indent)
		}
	}
}

func (t *dotText) box(i int, b box, indent string) {
	if t.named != nil {
		b.lines = slices.Concat(b.lines, needs(t.of.boxes, t.named[i]))
	}
	look, more := b.style(), dotShape[b.shape]
	if look.text != textColor {
		more += fmt.Sprintf(", fontcolor=%q", look.text)
	}
	if b.trouble.isFailure() && b.shape != ofComponent { // the line of a component is as wide
		more += ", penwidth=2"
	}
	fmt.Fprintf(&t.out, "%s%s [label=%s, tooltip=%s, fillcolor=%q, color=%q%s%s];\n", indent, nodeName(i), b.dotLabel(), dotLabel(b.tip), look.fill, look.border, more, b.dotWidth())
}

var dotShape = map[shape]string{
	ofResource: "", ofProvider: `, style="filled,dashed"`, ofComponent: `, style="filled,rounded", penwidth=2`, ofMany: ", peripheries=2",
}

// waves puts the boxes of a wave at one level, below the number of the wave.
func (t *dotText) waves() {
	members := make([][]string, t.of.waves+1)
	for i, n := range t.of.boxes {
		members[n.wave] = append(members[n.wave], nodeName(i))
	}
	last := 0
	for wave := 1; wave <= t.of.waves; wave++ {
		if len(members[wave]) == 0 {
			continue
		}
		fmt.Fprintf(&t.out, "  w%d [label=\"wave %d\", shape=plaintext, style=\"\", fontsize=%g];\n", wave, wave, t.sizes.title)
		fmt.Fprintf(&t.out, "  { rank=same; w%d; %s; }\n", wave, strings.Join(members[wave], "; "))
	}
	for wave := 1; wave <= t.of.waves; wave++ {
		if len(members[wave]) == 0 {
			continue
		}
		if last > 0 {
			fmt.Fprintf(&t.out, "  w%d -> w%d [style=invis];\n", wave, last)
		}
		last = wave
	}
}
