package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Text writes the graph for people and for golden files: a line for each node, ascending, and below it, indented, a line
// for each dependency with its kinds and labels. Name gives a node's name; nil means no names. The form may change from
// version to version; nothing should parse it.
//
//	0 network
//	1 machine
//	  property(subnet) 0 network
func (g *Graph) Text(w io.Writer, name func(ID) string) error {
	return g.TextOf(w, g.all(), name)
}

// TextOf is [Graph.Text] for the given nodes in their order, each with all its dependencies.
func (g *Graph) TextOf(w io.Writer, nodes []ID, name func(ID) string) error {
	out := bufio.NewWriter(w)
	for _, id := range nodes {
		fmt.Fprintln(out, g.named(id, name))
		for _, e := range g.dependencies[id] {
			fmt.Fprintf(out, "  %s %s\n", describe(e.Kind, g.Labels(id, e.ID)), g.named(e.ID, name))
		}
	}
	return out.Flush()
}

// DOT writes the graph in the language of Graphviz, with edges from a node to its dependencies. Name gives a node's name;
// nil means its number.
func (g *Graph) DOT(w io.Writer, name func(ID) string) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "digraph {")
	for id := range ID(g.Len()) {
		shape := ""
		label := strconv.Itoa(int(id))
		if g.IsJoin(id) {
			shape, label = ", shape=point", ""
		} else if name != nil {
			label = name(id)
		}
		fmt.Fprintf(out, "  n%d [label=%s%s];\n", id, quoteDOT(label), shape)
	}
	for id := range ID(g.Len()) {
		for _, e := range g.dependencies[id] {
			fmt.Fprintf(out, "  n%d -> n%d [label=%s];\n", id, e.ID, quoteDOT(describe(e.Kind, g.Labels(id, e.ID))))
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// LayersText formats antichains: a line for each layer, first to last.
func LayersText(layers [][]ID, name func(ID) string) string {
	var b strings.Builder
	for i, layer := range layers {
		fmt.Fprintf(&b, "%d:", i)
		for _, id := range layer {
			b.WriteByte(' ')
			if name == nil {
				b.WriteString(strconv.Itoa(int(id)))
			} else {
				b.WriteString(name(id))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (g *Graph) all() []ID {
	out := make([]ID, g.Len())
	for i := range out {
		out[i] = ID(i)
	}
	return out
}

func (g *Graph) named(id ID, name func(ID) string) string {
	text := strconv.Itoa(int(id))
	if g.IsJoin(id) {
		return text + " (join)"
	}
	if name == nil {
		return text
	}
	return text + " " + name(id)
}

// describe prints kinds with their labels. The labels follow the property kind, to which they most likely belong;
// without it they follow all kinds.
func describe(kind Kind, labels []string) string {
	if len(labels) == 0 {
		return kind.String()
	}
	listed := "(" + strings.Join(labels, ", ") + ")"
	if kind&PropertyDependency == 0 {
		return kind.String() + listed
	}
	property := PropertyDependency.String()
	return strings.Replace(kind.String(), property, property+listed, 1)
}

// quoteDOT quotes for Graphviz, which differs from Go: only these three characters need an escape.
func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
