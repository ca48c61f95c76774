package diagram

import (
	"fmt"
	"strings"
)

// Mermaid returns the drawing as a Mermaid flowchart, which many code hosts show in Markdown.
func (d *Drawing) Mermaid() string {
	var b strings.Builder
	title := d.title
	if d.legend != "" {
		title += "; " + d.legend
	}
	fmt.Fprintf(&b, "flowchart LR\n")
	fmt.Fprintf(&b, "  %%%% %s\n", title)
	if d.waves > 0 {
		d.mermaidWaves(&b)
	} else {
		d.mermaidFrame(&b, none, "  ")
	}
	for _, a := range d.arrows {
		fmt.Fprintf(&b, "  %s %s %s\n", nodeName(a.from), mermaidArrow[a.kind], nodeName(a.to))
	}
	used := map[Change]bool{}
	for _, n := range d.boxes {
		used[n.done] = true
	}
	for _, c := range byDanger {
		if used[c] {
			fmt.Fprintf(&b, "  classDef %s fill:%s,stroke:%s,color:%s\n", mermaidClass(c), styles[c].fill, styles[c].border, textColor)
		}
	}
	return b.String()
}

// mermaidClass returns the class of a change. It has a prefix because some names of changes are keywords of Mermaid.
func mermaidClass(c Change) string { return "to-" + string(c) }

var mermaidArrow = map[arrowKind]string{needsIt: "-->", isProvider: "-.->", isParent: "-.-"}

var mermaidShape = map[shape][2]string{ofResource: {"[", "]"}, ofProvider: {"{{", "}}"}, ofComponent: {"(", ")"}, ofMany: {"[[", "]]"}}

func (d *Drawing) mermaidFrame(b *strings.Builder, within int, indent string) {
	for i, f := range d.frames {
		if f.parent == within {
			fmt.Fprintf(b, "%ssubgraph c%d [%s]\n", indent, i, mermaidText(strings.ReplaceAll(f.title, "\n", ": "))) // there is room for one line
			d.mermaidFrame(b, i, indent+"  ")
			fmt.Fprintf(b, "%send\n", indent)
		}
	}
	for i, n := range d.boxes {
		if n.frame == within {
			d.mermaidBox(b, i, indent)
		}
	}
}

func (d *Drawing) mermaidBox(b *strings.Builder, i int, indent string) {
	n := d.boxes[i]
	brackets := mermaidShape[n.shape]
	fmt.Fprintf(b, "%s%s%s%s%s", indent, nodeName(i), brackets[0], mermaidText(strings.Join(n.lines, "\n")), brackets[1])
	if n.done != "" {
		fmt.Fprintf(b, ":::%s", mermaidClass(n.done))
	}
	b.WriteString("\n")
}

// mermaidWaves draws a frame around the boxes of each wave. Boxes in no wave are outside of frames.
func (d *Drawing) mermaidWaves(b *strings.Builder) {
	for wave := 0; wave <= d.waves; wave++ {
		begun := wave == 0
		for i, n := range d.boxes {
			if n.wave != wave {
				continue
			}
			if !begun {
				begun = true
				fmt.Fprintf(b, "  subgraph w%d [\"wave %d\"]\n", wave, wave)
			}
			d.mermaidBox(b, i, "    ")
		}
		if wave > 0 && begun {
			b.WriteString("  end\n")
		}
	}
}
