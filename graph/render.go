package graph

import (
	"fmt"
	"strconv"
	"strings"
)

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
