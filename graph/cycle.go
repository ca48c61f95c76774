package graph

import (
	"strconv"
	"strings"
)

// CycleError reports that nodes wait for each other. If a graph has several cycles, the choice depends only on the
// graph.
type CycleError struct {
	// Path is the cycle in order: each node depends on the next one, and the last on the first. The first has the lowest
	// ID of the path. Edge kinds outside the query's mask are left out.
	Path []CycleStep
}

// CycleStep is one node of a cycle, with its edge to the next.
type CycleStep struct {
	ID     ID
	Kind   Kind
	Labels []string // of the edge to the next node, ascending; often empty
}

// Error prints the path with plain IDs. Use [CycleError.Format] for names.
func (e *CycleError) Error() string {
	return "dependency cycle: " + e.Format(func(id ID) string { return strconv.Itoa(int(id)) })
}

// Format prints the path on one line, such as "a -[provider]-> b -[dependency]-> a".
func (e *CycleError) Format(name func(ID) string) string {
	var b strings.Builder
	for _, step := range e.Path {
		b.WriteString(name(step.ID))
		b.WriteString(" -[")
		b.WriteString(describe(step.Kind, step.Labels))
		b.WriteString("]-> ")
	}
	if len(e.Path) > 0 {
		b.WriteString(name(e.Path[0].ID))
	}
	return b.String()
}
