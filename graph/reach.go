package graph

// Reach defines which edges and nodes a transitive query follows.
type Reach struct {
	// Kinds are the edges to follow; 0 means [AllKinds]. An edge counts if it has at least one of them.
	Kinds Kind
	// Skip, if not nil, rules nodes out: a skipped node is neither reported nor followed (steps.md 3.11, "ignoring
	// impossible"). It is not called for roots, and at most once for each other node.
	Skip func(ID) bool
}
