package graph

import "strings"

// Kind is a set of reasons for which one node depends on another. Kinds combine with |. The zero Kind in an option means
// the default of the query; an edge always has at least one kind.
type Kind uint8

// The kinds of dependency between resources ([steps.md 0.1], "all dependencies").
//
// [steps.md 0.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#01-entities
const (
	Parent             Kind = 1 << iota // the node is a child of the other
	Dependency                          // an explicit or collected dependency
	PropertyDependency                  // an input was computed from the other's outputs; see [Graph.AddLabel]
	Provider                            // the other is the node's provider
	DeletedWith                         // the node is deleted with the other
	ReplaceWith                         // the node is replaced whenever the other is

	// member joins a join node to the nodes that it represents. Every traversal follows it, whatever its mask.
	member
)

// AllKinds is every kind of dependency.
const AllKinds = Parent | Dependency | PropertyDependency | Provider | DeletedWith | ReplaceWith

// NotParent is every kind of dependency except that of a child on its parent. It is what a delete-before-replace closure
// follows ([steps.md 3.11], "without children").
//
// [steps.md 3.11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#311-the-closure-of-a-delete-before-replace
const NotParent = AllKinds &^ Parent

var kindNames = [...]string{
	"parent", "dependency", "property", "provider", "deletedWith", "replaceWith", "member",
}

// String lists the kinds in a fixed order, joined by "|". The empty set is "none".
func (k Kind) String() string {
	if k == 0 {
		return "none"
	}
	var b strings.Builder
	for i, name := range kindNames {
		if k&(1<<i) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('|')
		}
		b.WriteString(name)
	}
	return b.String()
}

// or returns k, or fallback if k is empty.
func (k Kind) or(fallback Kind) Kind {
	if k == 0 {
		return fallback
	}
	return k
}
