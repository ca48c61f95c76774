// Package diagram draws resources and their dependencies, for people and for other tools.
//
// A [Diagram] has every resource of a state, or of a state and a plan for it. A [Drawing] is the part that fits into a
// picture: components and equal resources are collapsed into one box. A drawing can be written as a picture or as a
// text, a diagram as JSON. For the order of operations, use package graph.
//
// Invariant: the same state, plan and options give the same bytes. They contain only names, types and URNs, escaped for
// the format, and no properties.
package diagram
