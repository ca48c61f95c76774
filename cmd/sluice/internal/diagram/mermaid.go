package diagram

import (
	"fmt"
	"strings"
)

func mermaidOf(d *Drawing) string {
	m := mermaidText{of: d}
	title := d.title
	if d.legend != "" {
		title += "; " + d.legend
	}
	m.out.WriteString("flowchart LR\n")
	fmt.Fprintf(&m.out, "  %%%% %s\n", title)
	if d.waves > 0 {
		m.waves()
	} else {
		m.frame(none, "  ")
	}
	for _, a := range d.arrows {
		fmt.Fprintf(&m.out, "  %s %s %s\n", nodeName(a.from), mermaidArrow[a.kind], nodeName(a.to))
	}
	used := map[Change]bool{}
	for _, n := range d.boxes {
		used[n.done] = true
	}
	for _, c := range byDanger {
		if used[c] {
			fmt.Fprintf(&m.out, "  classDef %s fill:%s,stroke:%s,color:%s\n", mermaidClass(c), styles[c].fill, styles[c].border, textColor)
		}
	}
	return m.out.String()
}

// mermaidText is the text of a drawing for Mermaid.
type mermaidText struct {
	of  *Drawing
	out strings.Builder
}

// mermaidClass returns the class of a change. It has a prefix because some names of changes are keywords of Mermaid.
func mermaidClass(c Change) string { return "to-" + string(c) }

var mermaidArrow = map[arrowKind]string{needsIt: "-->", isProvider: "-.->", isParent: "-.-"}

var mermaidShape = map[shape][2]string{ofResource: {"[", "]"}, ofProvider: {"{{", "}}"}, ofComponent: {"(", ")"}, ofMany: {"[[", "]]"}}

// frame writes the contents of a frame; none stands for the whole drawing.
func (m *mermaidText) frame(within int, indent string) {
	for i, f := range m.of.frames {
		if f.parent == within {
			fmt.Fprintf(&m.out, "%ssubgraph c%d [%s]\n", indent, i, mermaidLabel(strings.ReplaceAll(f.title, "\n", ": "))) // there is room for one line
			m.frame(i, indent+"  ")
			fmt.Fprintf(&m.out, "%send\n", indent)
		}
	}
	for i, n := range m.of.boxes {
		if n.frame == within {
			m.box(i, indent)
		}
	}
}

func (m *mermaidText) box(i int, indent string) {
	n := m.of.boxes[i]
	brackets := mermaidShape[n.shape]
	fmt.Fprintf(&m.out, "%s%s%s%s%s", indent, nodeName(i), brackets[0], mermaidLabel(strings.Join(n.lines, "\n")), brackets[1])
	if n.done != "" {
		fmt.Fprintf(&m.out, ":::%s", mermaidClass(n.done))
	}
	m.out.WriteString("\n")
}

// waves draws a frame around the boxes of each wave. Boxes in no wave are outside of frames.
func (m *mermaidText) waves() {
	for wave := 0; wave <= m.of.waves; wave++ {
		begun := wave == 0
		for i, n := range m.of.boxes {
			if n.wave != wave {
				continue
			}
			if !begun {
				begun = true
				fmt.Fprintf(&m.out, "  subgraph w%d [\"wave %d\"]\n", wave, wave)
			}
			m.box(i, "    ")
		}
		if wave > 0 && begun {
			m.out.WriteString("  end\n")
		}
	}
}
