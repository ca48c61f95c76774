// Package diagram draws resources and what they depend on, for people and for other tools.
//
// A [Diagram] has every resource of a state, or of a state and a plan for it. A [Drawing] is what fits a picture of it:
// components and equal resources are collapsed into one box. A drawing is written as a picture or as a text, a diagram
// as JSON. It is not for questions about the order of operations: package graph answers those.
//
// The one invariant: the same state, plan and options give the same bytes, and nothing of properties is ever in them:
// only names, types and URNs, escaped for where they are written.
package diagram
