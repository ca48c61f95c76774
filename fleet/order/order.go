package order

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/graph"
)

// Identity identifies a stack in stack references.
type Identity struct{ Project, Stack string }

// Matches reports whether a reference, "stack", "project/stack" or "organization/project/stack", in a stack of the project from, refers to the stack.
func (i Identity) Matches(reference, from string) bool {
	parts := strings.Split(reference, "/")
	switch len(parts) {
	case 1:
		return i.Project == from && i.Stack == parts[0]
	case 2, 3:
		parts = parts[len(parts)-2:]
		return i.Project == parts[0] && i.Stack == parts[1]
	}
	return false
}

// Known has the known properties of a stack that are not in fleet.yaml.
type Known struct {
	Project string   // the name of its project
	Reads   []string // its references to the stacks whose outputs it reads
}

// Order is the order of the stacks of a fleet.
type Order struct {
	stacks []spec.Stack
	byName map[string]graph.ID
	graph  *graph.Graph
	reads  []map[string]string // for each stack: the stacks of the fleet that it reads, by reference
}

// CycleError reports that stacks depend on each other.
type CycleError struct{ Path string }

func (e *CycleError) Error() string {
	return fmt.Sprintf("the stacks need each other, so none can be the first: %s; take one of these edges away", e.Path)
}

// Of returns the order of stacks. known has further properties of them, by name. The error is a [*CycleError].
func Of(stacks []spec.Stack, known map[string]Known) (*Order, error) {
	o := &Order{stacks: stacks, byName: map[string]graph.ID{}, graph: &graph.Graph{}, reads: make([]map[string]string, len(stacks))}
	for _, s := range stacks {
		o.byName[s.Name] = o.graph.AddNode()
	}
	owners := map[Identity]string{}
	for _, s := range stacks {
		owners[identity(s, known[s.Name])] = s.Name
	}
	for i, s := range stacks {
		for _, name := range s.Needs {
			if to, here := o.byName[name]; here {
				o.edge(graph.ID(i), to, "needs")
			}
		}
		o.reads[i] = map[string]string{}
		for _, reference := range known[s.Name].Reads {
			if name := owner(owners, reference, known[s.Name].Project); name != "" && name != s.Name {
				o.reads[i][reference] = name
				o.edge(graph.ID(i), o.byName[name], "reads")
			}
		}
	}
	if _, err := o.graph.Schedule(o.all(), graph.Schedule{}); err != nil {
		return nil, o.named(err)
	}
	return o, nil
}

// edge adds a label to an edge; a stack that needs another one may also read it.
func (o *Order) edge(from, to graph.ID, label string) {
	o.graph.AddEdge(from, to, graph.Dependency)
	o.graph.AddLabel(from, to, label)
}

func identity(s spec.Stack, k Known) Identity {
	return Identity{k.Project, s.Stack[strings.LastIndexByte(s.Stack, '/')+1:]}
}

func owner(owners map[Identity]string, reference, from string) string {
	parts := strings.Split(reference, "/")
	wanted := Identity{from, parts[0]}
	if len(parts) > 1 {
		wanted = Identity{parts[len(parts)-2], parts[len(parts)-1]}
	}
	if !wanted.Matches(reference, from) {
		return ""
	}
	return owners[wanted]
}

func (o *Order) all() []graph.ID {
	out := make([]graph.ID, len(o.stacks))
	for i := range out {
		out[i] = graph.ID(i)
	}
	return out
}

func (o *Order) name(id graph.ID) string { return o.stacks[id].Name }

// named replaces the IDs in the error of a cycle by the names of stacks.
func (o *Order) named(err error) error {
	cycle, is := err.(*graph.CycleError)
	if !is {
		return err
	}
	var b strings.Builder
	for i, step := range cycle.Path {
		fmt.Fprintf(&b, "%s %s ", o.name(step.ID), strings.Join(o.labels(step.ID, cycle.Path[(i+1)%len(cycle.Path)].ID), " and "))
	}
	return &CycleError{b.String() + o.name(cycle.Path[0].ID)}
}

func (o *Order) labels(from, to graph.ID) []string { return o.graph.Labels(from, to) }

// Edge says that a stack comes after another one, and why: it "needs" it, "reads" it, or both.
type Edge struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Why  []string `json:"why"`
}

// Edges returns all edges, in the order of the stacks.
func (o *Order) Edges() []Edge {
	var out []Edge
	for i := range o.stacks {
		for _, e := range o.graph.Dependencies(graph.ID(i)) {
			out = append(out, Edge{o.stacks[i].Name, o.name(e.ID), o.labels(graph.ID(i), e.ID)})
		}
	}
	return out
}

// Needs returns the stacks before a stack, sorted.
func (o *Order) Needs(name string) []string {
	return o.neighbours(o.graph.Dependencies(o.byName[name]))
}

// NeededBy returns the stacks after a stack, sorted.
func (o *Order) NeededBy(name string) []string {
	return o.neighbours(o.graph.Dependents(o.byName[name]))
}

func (o *Order) neighbours(edges []graph.Edge) []string {
	var out []string
	for _, e := range edges {
		out = append(out, o.name(e.ID))
	}
	slices.Sort(out)
	return out
}

// Reads returns the stacks of the fleet whose outputs a stack reads, by its references to them.
func (o *Order) Reads(name string) map[string]string { return o.reads[o.byName[name]] }

// Layers returns the stacks in layers: each stack is in the layer after the last of its needs.
func (o *Order) Layers() [][]string {
	depth := make([]int, len(o.stacks))
	scheduled, err := o.graph.Schedule(o.all(), graph.Schedule{})
	if err != nil {
		return nil // there is no cycle
	}
	var out [][]string
	for _, s := range scheduled {
		for _, e := range o.graph.Dependencies(s.Node) {
			depth[s.Node] = max(depth[s.Node], depth[e.ID]+1)
		}
		if depth[s.Node] == len(out) {
			out = append(out, nil)
		}
		out[depth[s.Node]] = append(out[depth[s.Node]], o.name(s.Node))
	}
	for _, layer := range out {
		slices.Sort(layer)
	}
	return out
}

// DOT writes the graph in the language of Graphviz.
func (o *Order) DOT(w io.Writer) error { return o.graph.DOT(w, o.name) }
