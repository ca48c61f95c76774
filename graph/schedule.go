package graph

// Direction defines which end of an edge goes first.
type Direction uint8

const (
	// DependenciesFirst is the direction of creating and refreshing.
	DependenciesFirst Direction = iota
	// DependentsFirst is the direction of deleting (steps.md 5.3).
	DependentsFirst
)

// Schedule defines the order of the members of a subset.
type Schedule struct {
	Direction Direction
	Scope
}

// Scheduled is one entry of the list that [Graph.Schedule] returns.
type Scheduled struct {
	// Node is the member. A relay has none: it carries order from one member to another, and nothing is done for it.
	Node  ID
	Relay bool
	// After are the positions in the list of the entries that must be over before this one begins, ascending and all lower
	// than its own.
	After []ID
}

// Scope defines which edges order the members of a subset among each other.
type Scope struct {
	// Kinds are the edges that count; 0 means [AllKinds].
	Kinds Kind
	// ThroughOthers also counts a path that leaves the subset and comes back: B depends on a node outside, which depends on
	// A. Pulumi looks at direct dependencies only, so false gives its layers. Set it for a [ReadySet] of deletes: rule 4 of
	// steps.md 5.3 keeps the transitive dependencies of an object that could not be deleted, and only if A waits for B is it
	// certain that A has not been deleted before B fails. It costs a visit to every dependency of the subset.
	ThroughOthers bool
}
