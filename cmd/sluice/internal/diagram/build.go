package diagram

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// OfState returns the diagram of a state; a nil state is empty. waves are those of [sluice.DestroyWaves]; nil shows none.
func OfState(project, stack string, s *state.Snapshot, waves [][]*state.Resource) *Diagram {
	b := newBuilder(project, stack)
	b.addState(s)
	b.number(waves)
	return b.build()
}

// OfPlan returns the diagram of a state and of a plan for it. A resource to create has its planned dependencies, and one to delete its recorded ones.
func OfPlan(project, stack string, s *state.Snapshot, p *state.Plan) *Diagram {
	b := newBuilder(project, stack)
	b.diagram.Planned = true
	b.addState(s)
	b.addPlan(p)
	return b.build()
}

type builder struct {
	diagram Diagram
	drafts  []*draft        // by node
	of      map[urn.URN]int // the node of each URN, for old copies only if there is no other
	known   map[*state.Resource]int
}

// draft has the URNs that a node refers to.
type draft struct {
	parent       urn.URN
	provider     string
	dependencies []urn.URN
	properties   map[string][]urn.URN
	deletedWith  urn.URN
}

func newBuilder(project, stack string) *builder {
	return &builder{diagram: Diagram{Project: project, Stack: stack}, of: map[urn.URN]int{}, known: map[*state.Resource]int{}}
}

// isHidden reports whether a resource is left out, because it has no object and no program declares it.
func isHidden(u urn.URN) bool { return u.IsRootStack() || u.IsDefaultProvider() }

func (b *builder) addState(s *state.Snapshot) {
	if s == nil {
		return
	}
	for _, r := range s.Resources {
		if isHidden(r.URN) {
			continue
		}
		i := b.add(Node{
			URN: r.URN, Type: r.Type, Name: r.URN.Name(), Component: !r.Custom && r.ViewOf == "", Protected: r.Protect, Old: r.Delete,
		}, &draft{r.Parent, r.Provider, r.Dependencies, r.PropertyDependencies, r.DeletedWith})
		b.known[r] = i
		if _, taken := b.of[r.URN]; !taken || !r.Delete {
			b.of[r.URN] = i
		}
	}
}

func (b *builder) add(n Node, d *draft) int {
	b.diagram.Nodes, b.drafts = append(b.diagram.Nodes, n), append(b.drafts, d)
	return len(b.diagram.Nodes) - 1
}

func (b *builder) addPlan(p *state.Plan) {
	renamed := map[urn.URN]urn.URN{} // old names to new ones
	for _, u := range slices.Sorted(maps.Keys(p.Resources)) {
		planned := p.Resources[u]
		if isHidden(u) {
			continue
		}
		i, exists := b.of[u]
		if g := planned.Goal; g != nil {
			if !exists {
				i, exists = b.formerly(g, p)
			}
			if !exists {
				i = b.add(Node{}, nil)
			} else if old := b.diagram.Nodes[i].URN; old != u {
				renamed[old] = u
			}
			b.of[u] = i
			b.diagram.Nodes[i] = Node{URN: u, Type: g.Type, Name: g.Name, Component: !g.Custom, Protected: g.Protect}
			b.drafts[i] = &draft{parent: g.Parent, provider: g.Provider, dependencies: g.Dependencies, properties: g.PropertyDependencies}
			exists = true
		}
		if exists {
			b.diagram.Nodes[i].Change, b.diagram.Nodes[i].Uncertain = ChangeOf(planned.Ops...), planned.Uncertain
		}
	}
	for old, u := range renamed {
		b.of[old] = b.of[u]
	}
	for i := range b.diagram.Nodes {
		if b.diagram.Nodes[i].Old {
			b.diagram.Nodes[i].Change = Delete
		}
	}
}

// formerly finds, by aliases, the recorded resource that the program now declares under another name.
func (b *builder) formerly(g *state.PlannedGoal, p *state.Plan) (int, bool) {
	now := urn.Subject{Stack: b.diagram.Stack, Project: b.diagram.Project, Type: g.Type, Name: g.Name, Parent: g.Parent}
	for _, u := range urn.ExpandAliases(now, g.Aliases, nil) {
		if i, exists := b.of[u]; exists && p.Resources[u] == nil {
			return i, true
		}
	}
	return none, false
}

// number numbers the waves of the nodes. Waves of hidden resources alone are not counted.
func (b *builder) number(waves [][]*state.Resource) {
	for _, wave := range waves {
		counted := false
		for _, r := range wave {
			i, shown := b.known[r]
			if !shown {
				continue
			}
			if !counted {
				counted = true
				b.diagram.Waves++
			}
			b.diagram.Nodes[i].Wave = b.diagram.Waves
		}
	}
}

// build resolves the references of the nodes. It leaves out dangling references.
func (b *builder) build() *Diagram {
	for i, d := range b.drafts {
		b.diagram.Nodes[i].Parent = b.find(d.parent)
	}
	for i := range b.diagram.Nodes {
		b.cutCycle(i)
	}
	for i, d := range b.drafts {
		properties := map[int][]string{}
		for _, name := range slices.Sorted(maps.Keys(d.properties)) {
			for _, u := range d.properties[name] {
				if on := b.find(u); !slices.Contains(properties[on], name) {
					properties[on] = append(properties[on], name)
				}
			}
		}
		for _, u := range d.dependencies {
			if on := b.find(u); properties[on] == nil {
				properties[on] = []string{}
			}
		}
		for on, names := range properties {
			b.connect(i, on, Dependency, names)
		}
		if ref, err := urn.ParseProviderRef(d.provider); err == nil {
			b.connect(i, b.find(ref.URN), Provider, nil)
		}
		b.connect(i, b.find(d.deletedWith), DeletedWith, nil)
	}
	slices.SortFunc(b.diagram.Edges, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.On, y.On), strings.Compare(string(x.Kind), string(y.Kind)))
	})
	return &b.diagram
}

func (b *builder) connect(node, on int, kind EdgeKind, properties []string) {
	if on != none && on != node {
		b.diagram.Edges = append(b.diagram.Edges, Edge{node, on, kind, properties})
	}
}

func (b *builder) find(u urn.URN) int {
	if i, known := b.of[u]; known && u != "" {
		return i
	}
	return none
}

// cutCycle removes the parent of a node that is its own ancestor, in a damaged state.
func (b *builder) cutCycle(i int) {
	steps := 0
	for p := b.diagram.Nodes[i].Parent; p != none; p = b.diagram.Nodes[p].Parent {
		if steps++; p == i || steps > len(b.diagram.Nodes) {
			b.diagram.Nodes[i].Parent = none
			return
		}
	}
}

// ChangeOf returns the change that steps make to one resource, by their kinds of steps.md 8.1. Only deleting an old copy of an earlier replacement is
// no change to the resource.
func ChangeOf(ops ...string) Change {
	change := Change("")
	for _, op := range ops {
		switch op {
		case "create":
			change = worse(change, Create)
		case "import":
			change = worse(change, Import)
		case "update", "refresh":
			change = worse(change, Update)
		case "delete", "discard":
			change = worse(change, Delete)
		case "replace", "create-replacement", "read-replacement", "import-replacement":
			return Replace
		}
	}
	return change
}

// Resource is a resource of a diagram of an operation.
type Resource struct {
	URN, Parent  urn.URN
	Dependencies []urn.URN
	Component    bool
	Protected    bool
	Old          bool // only an old copy of it changes, left by an earlier replacement
	Change       Change
	Uncertain    bool
	Trouble      Trouble
}

// OfOperation returns the diagram of the resources of an operation or a preview.
func OfOperation(project, stack string, rs []Resource) *Diagram {
	b := newBuilder(project, stack)
	b.diagram.Planned, b.diagram.InReport = true, true
	for _, r := range rs {
		if isHidden(r.URN) {
			continue
		}
		b.of[r.URN] = b.add(Node{
			URN: r.URN, Type: r.URN.Type(), Name: r.URN.Name(), Component: r.Component, Protected: r.Protected, Change: r.Change, Uncertain: r.Uncertain,
			Trouble: r.Trouble, Old: r.Old,
		}, &draft{parent: r.Parent, dependencies: r.Dependencies})
	}
	return b.build()
}
