package graph

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ID names a node. IDs are dense: the first node is 0, each further one is one more. The order of IDs is the order of the
// caller's list, and it breaks every tie.
type ID int32

// Edge is one neighbour of a node, with every kind of dependency between the two.
type Edge struct {
	ID   ID
	Kind Kind
}

// Graph is a set of nodes and of kinded edges between them. It may have cycles: [Graph.TopologicalOrder] reports them.
// The zero Graph is empty and ready to use. Any number of goroutines may read it while none writes.
type Graph struct {
	dependencies [][]Edge // by node, ascending by ID, one edge per neighbour
	dependents   [][]Edge // the same edges from the other end
	joins        []bool   // which nodes are join nodes; nil when none is
	climbs       bool     // whether an edge between two nodes other than joins runs to an ID that is not lower
	labels       map[[2]ID][]string
}

// Len returns the number of nodes, join nodes included. IDs run from 0 to Len()-1.
func (g *Graph) Len() int { return len(g.dependencies) }

// AddNode adds a node and returns its ID, which is the old Len. Edges may be given at once; this is the cheap way, with
// cost d log d for d edges. It panics if an edge names a node that does not exist or has no kind.
func (g *Graph) AddNode(dependencies ...Edge) ID {
	id := ID(g.Len())
	for _, e := range dependencies {
		g.check(id, e.ID, e.Kind)
	}
	own := merged(dependencies)
	g.dependencies = append(g.dependencies, own)
	g.dependents = append(g.dependents, nil)
	if g.joins != nil {
		g.joins = append(g.joins, false)
	}
	for _, e := range own {
		g.dependents[e.ID] = append(g.dependents[e.ID], Edge{id, e.Kind})
	}
	return id
}

// AddEdge records that from depends on to for the reasons in kind; kinds of one pair add up. An edge may close a cycle,
// and may run from a node to itself. It costs a binary search and, unless neighbours arrive in ascending order, a shift
// of the neighbours behind it; use a [Builder] for many edges in no order. It panics if a node does not exist or kind is
// empty.
func (g *Graph) AddEdge(from, to ID, kind Kind) {
	g.check(from, to, kind)
	if int(from) >= g.Len() {
		panic(fmt.Sprintf("graph: edge from node %d of a graph of %d nodes", from, g.Len()))
	}
	g.climbs = g.climbs || to >= from
	g.dependencies[from] = insert(g.dependencies[from], Edge{to, kind})
	g.dependents[to] = insert(g.dependents[to], Edge{from, kind})
}

// check allows from to be the node about to be added, so that one function serves both ways of adding.
func (g *Graph) check(from, to ID, kind Kind) {
	if from < 0 || int(from) > g.Len() || to < 0 || int(to) >= g.Len() {
		panic(fmt.Sprintf("graph: edge %d -> %d in a graph of %d nodes", from, to, g.Len()))
	}
	if kind == 0 || kind&^AllKinds != 0 {
		panic(fmt.Sprintf("graph: edge %d -> %d of kind %v", from, to, kind))
	}
}

// AddLabel attaches a name to the pair of nodes, such as the property that causes a [PropertyDependency]. Labels are for
// people: rendering and cycle messages show them, nothing else reads them. Labels of one pair are kept sorted, each once.
func (g *Graph) AddLabel(from, to ID, label string) {
	if g.labels == nil {
		g.labels = map[[2]ID][]string{}
	}
	key := [2]ID{from, to}
	at, found := slices.BinarySearch(g.labels[key], label)
	if !found {
		g.labels[key] = slices.Insert(g.labels[key], at, label)
	}
}

// Labels returns the labels of the pair in ascending order. The result must not be changed.
func (g *Graph) Labels(from, to ID) []string { return g.labels[[2]ID{from, to}] }

// Dependencies returns the direct dependencies of id, ascending by ID. The result must not be changed, and later
// additions to the graph may or may not show in it.
func (g *Graph) Dependencies(id ID) []Edge { return g.dependencies[id] }

// Dependents returns the direct dependents of id, ascending by ID, under the same conditions as [Graph.Dependencies].
func (g *Graph) Dependents(id ID) []Edge { return g.dependents[id] }

// Kinds returns the kinds of the edge from one node to another, 0 if there is none. It costs a binary search.
func (g *Graph) Kinds(from, to ID) Kind {
	edges := g.dependencies[from]
	if at, found := search(edges, to); found {
		return edges[at].Kind
	}
	return 0
}

// IsJoin reports whether id is one of the join nodes that [Graph.ExpandComponents] adds. They represent many edges, are
// never part of an answer and never passed to a callback.
func (g *Graph) IsJoin(id ID) bool { return g.joins != nil && g.joins[id] }

// Antichains splits the subset into layers for deletion ([steps.md 5.3]). Layers come in the order in which they are deleted:
// dependents before their dependencies. No member of a layer depends on another member of it. A member without dependents in
// the subset is in the first layer, and every other member one layer after the last of its dependents. That is the layer in
// which a [ReadySet] of deletes would hand it out if all deletes took the same time. Each layer ascends by ID.
//
// The error is a [*CycleError] or nil. The cost is linear in the subset and its edges.
//
// [steps.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#53-order
func (g *Graph) Antichains(subset []ID, scope Scope) ([][]ID, error) {
	if len(subset) == 0 {
		return nil, nil
	}
	s := g.induce(subset, scope.Kinds, scope.ThroughOthers)
	order := make([]int32, 0, len(s.ids))
	if err := s.visitTopologically(func(i int32) { order = append(order, i) }); err != nil {
		return nil, err
	}
	// at[i] is the number of layers up to and including that of node i; of a relay, up to that of its last dependent.
	at := make([]int32, len(s.ids))
	var layers [][]ID
	for _, i := range slices.Backward(order) {
		if s.isMember(i) {
			at[i]++
		}
		for _, d := range s.dependencies.of(i) {
			at[d] = max(at[d], at[i])
		}
	}
	for i := range s.members {
		for int(at[i]) > len(layers) {
			layers = append(layers, nil)
		}
		layers[at[i]-1] = append(layers[at[i]-1], s.ids[i])
	}
	return layers, nil
}

// later returns the transitive dependents of root that are reached by going up in base order.
func (g *Graph) later(root ID, kinds Kind, skip func(ID) bool) []ID {
	seen := newIndex(g.Len(), 1)
	seen.add(root)
	todo := []ID{root}
	var found []ID
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range g.dependents[id] {
			if e.Kind&kinds == 0 || e.ID <= id || g.IsJoin(e.ID) || !seen.add(e.ID) {
				continue
			}
			if skip == nil || !skip(e.ID) {
				found = append(found, e.ID)
				todo = append(todo, e.ID)
			}
		}
	}
	slices.Sort(found)
	return found
}

// ExpandComponents returns a copy of the graph in which every node that depends on a component also depends on those of
// the component's transitive children that have a lower ID than the node ([steps.md 5.3] step 2). Later children are left
// out, or a child that depends on its own component would close a cycle.
//
// The edges are not written out, as their number can be quadratic. One join node represents a run of children and is
// shared by all nodes that depend on at least those. Join nodes get the IDs after the existing ones. No query returns
// them, and every query follows them under the kinds of the edge to the component. With n nodes and e edges to components
// there are at most (n+e) log n of them; usually all children precede the dependents, and there are about n/3.
//
// [steps.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#53-order
func (g *Graph) ExpandComponents(c Components) *Graph {
	b := &Builder{}
	b.AddNodes(g.Len())
	edges := 0
	for _, deps := range g.dependencies {
		edges += len(deps)
	}
	b.Grow(edges + edges/2)
	for id := range ID(g.Len()) {
		if g.IsJoin(id) {
			b.joins = append(b.joins, id)
		}
	}
	x := expansion{
		b: b, tree: newForest(g, c.Parent), kinds: c.Kinds.or(NotParent), isComponent: c.IsComponent,
		shared: map[ID]sharedJoin{},
	}
	x.cover = newCover(b, g.Len())
	for id := range ID(g.Len()) {
		for _, e := range g.dependencies[id] {
			b.edges = append(b.edges, builderEdge{id, e.ID, e.Kind})
			if !g.IsJoin(id) {
				x.expand(id, e)
			}
		}
		// id becomes visible only now: a node depends on the children before it.
		x.cover.insert(x.tree.first[id], id)
	}
	out := b.Graph()
	out.labels = g.cloneLabels()
	return out
}

func (g *Graph) cloneLabels() map[[2]ID][]string {
	if g.labels == nil {
		return nil
	}
	out := make(map[[2]ID][]string, len(g.labels))
	for key, labels := range g.labels {
		out[key] = slices.Clone(labels)
	}
	return out
}

func newForest(g *Graph, parentOf func(ID) (ID, bool)) forest {
	if parentOf == nil {
		parentOf = g.lastParent
	}
	n := g.Len()
	f := forest{first: make([]int32, n), size: make([]int32, n)}
	parent := make([]ID, n)
	for id := range ID(n) {
		parent[id] = -1
		if p, found := parentOf(id); !g.IsJoin(id) && found && p >= 0 && p < id {
			parent[id] = p
		}
	}
	// Parents come before their children, so one pass down sums up the sizes and one pass up deals out the places.
	for id := n - 1; id >= 0; id-- {
		f.size[id]++
		if p := parent[id]; p >= 0 {
			f.size[p] += f.size[id]
		}
	}
	free := make([]int32, n) // the next free place among the children of a node
	roots := int32(0)
	for id := range n {
		place := &roots
		if p := parent[id]; p >= 0 {
			place = &free[p]
		}
		f.first[id] = *place
		*place += f.size[id]
		free[id] = f.first[id] + 1
	}
	return f
}

func (g *Graph) lastParent(id ID) (ID, bool) {
	for _, e := range slices.Backward(g.dependencies[id]) {
		if e.Kind&Parent != 0 && e.ID < id {
			return e.ID, true
		}
	}
	return 0, false
}

// induce cuts out the given nodes, or all if nodes is nil.
func (g *Graph) induce(nodes []ID, kinds Kind, through bool) *induced {
	s := &induced{g: g, kinds: kinds.or(AllKinds) | member}
	if nodes == nil {
		nodes = g.nodes()
	} else {
		nodes = slices.Clone(nodes)
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		nodes = slices.DeleteFunc(nodes, g.IsJoin)
	}
	s.ids, s.members = nodes, len(nodes)
	s.at = newIndex(g.Len(), len(nodes))
	for _, id := range nodes {
		s.at.add(id)
	}
	s.addRelays(through)
	s.connect()
	return s
}

// nodes returns every node that is not a join.
func (g *Graph) nodes() []ID {
	out := make([]ID, 0, g.Len())
	for id := range ID(g.Len()) {
		if !g.IsJoin(id) {
			out = append(out, id)
		}
	}
	return out
}

// TopologicalOrder returns the nodes so that each comes after all its dependencies. The result depends only on the graph
// and the priorities. If the nodes sorted by priority are already in a valid order, that is the result: a snapshot whose
// resources have their old positions as priorities keeps its order ([state.md 1.11], [state.md 3.4]). Only edges between the given
// nodes count. The error is a [*CycleError] or nil. The cost is linear in nodes and edges, times the logarithm of the
// number of nodes that wait at once.
//
// [state.md 1.11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#111-order
// [state.md 3.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#34-the-snapshot
func (g *Graph) TopologicalOrder(o Order) ([]ID, error) {
	s := g.induce(o.Nodes, o.Kinds, false)
	waits := s.waits(s.dependencies)
	ready := heap{less: s.byPriority(o.Priority)}
	// A join is handled before anything else is placed, or it would hold back a node that could come next.
	var joins []int32
	release := func(i int32) {
		if s.isMember(i) {
			ready.push(i)
		} else {
			joins = append(joins, i)
		}
	}
	finish := func(i int32) {
		for _, d := range s.dependents.of(i) {
			if waits[d]--; waits[d] == 0 {
				release(d)
			}
		}
	}
	for i, w := range waits {
		if w == 0 {
			release(int32(i))
		}
	}
	out := make([]ID, 0, s.members)
	for len(joins) > 0 || ready.len() > 0 {
		if n := len(joins); n > 0 {
			i := joins[n-1]
			joins = joins[:n-1]
			finish(i)
			continue
		}
		i := ready.pop()
		out = append(out, s.ids[i])
		finish(i)
	}
	if len(out) < s.members {
		return nil, s.cycle(waits)
	}
	return out, nil
}

// TransitiveDependents returns all nodes that depend on a root, directly or through others, ascending by ID. Roots are
// not part of the answer, even if one depends on another. The cost is the edges around the answer, plus sorting it,
// independent of the size of the graph.
func (g *Graph) TransitiveDependents(roots []ID, r Reach) []ID {
	return g.reach(roots, r, g.dependents)
}

// TransitiveDependencies returns all nodes that a root depends on, directly or through others, ascending by ID, under the
// same conditions as [Graph.TransitiveDependents].
func (g *Graph) TransitiveDependencies(roots []ID, r Reach) []ID {
	return g.reach(roots, r, g.dependencies)
}

func (g *Graph) reach(roots []ID, r Reach, next [][]Edge) []ID {
	kinds := r.Kinds.or(AllKinds) | member
	seen := newIndex(g.Len(), len(roots))
	var todo, found []ID
	for _, id := range roots {
		if seen.add(id) {
			todo = append(todo, id)
		}
	}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range next[id] {
			if e.Kind&kinds == 0 || !seen.add(e.ID) {
				continue
			}
			if !g.IsJoin(e.ID) {
				if r.Skip != nil && r.Skip(e.ID) {
					continue
				}
				found = append(found, e.ID)
			}
			todo = append(todo, e.ID)
		}
	}
	slices.Sort(found)
	return found
}

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

// quoteDOT quotes for Graphviz, which differs from Go: only these three characters need an escape.
func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Schedule lists the members of the subset in an order in which they can be handled one at a time, with the waits between
// them: the input of a [ReadySet]. Among the members that may come next, the one with the lowest ID comes first, or the
// highest when dependents go first, so the list keeps base order or its reverse as far as the graph allows. Repetitions in
// the subset count once.
//
// The error is a [*CycleError] or nil. The cost is linear in the subset and its edges, times a logarithm.
func (g *Graph) Schedule(subset []ID, how Schedule) ([]Scheduled, error) {
	if len(subset) == 0 {
		return nil, nil
	}
	s := g.induce(subset, how.Kinds, how.ThroughOthers)
	if err := s.visitTopologically(func(int32) {}); err != nil {
		return nil, err
	}
	before, after := s.dependencies, s.dependents
	less := func(a, b int32) bool { return a < b }
	if how.Direction == DependentsFirst {
		before, after = after, before
		less = func(a, b int32) bool { return a > b }
	}
	waits := s.waits(before)
	queue := heap{less: less}
	relays := []int32{}
	release := func(i int32) {
		if s.isMember(i) {
			queue.push(i)
		} else {
			relays = append(relays, i)
		}
	}
	for i, w := range waits {
		if w == 0 {
			release(int32(i))
		}
	}
	out := make([]Scheduled, 0, len(s.ids))
	place := make([]ID, len(s.ids))
	edges := make([]ID, 0, len(before.to))
	for len(relays) > 0 || queue.len() > 0 {
		var i int32
		if last := len(relays) - 1; last >= 0 {
			i, relays = relays[last], relays[:last]
		} else {
			i = queue.pop()
		}
		place[i] = ID(len(out))
		first := len(edges)
		for _, b := range before.of(i) {
			edges = append(edges, place[b])
		}
		entry := Scheduled{Relay: !s.isMember(i), After: edges[first:len(edges):len(edges)]}
		slices.Sort(entry.After)
		if !entry.Relay {
			entry.Node = s.ids[i]
		}
		out = append(out, entry)
		for _, next := range after.of(i) {
			if waits[next]--; waits[next] == 0 {
				release(next)
			}
		}
	}
	return out, nil
}

func search(edges []Edge, id ID) (int, bool) {
	return slices.BinarySearchFunc(edges, id, func(e Edge, id ID) int { return int(e.ID) - int(id) })
}

// insert keeps edges ascending. Appending is by far the most common case, as new nodes have the highest IDs.
func insert(edges []Edge, e Edge) []Edge {
	if n := len(edges); n == 0 || edges[n-1].ID < e.ID {
		return append(edges, e)
	}
	at, found := search(edges, e.ID)
	if found {
		edges[at].Kind |= e.Kind
		return edges
	}
	return slices.Insert(edges, at, e)
}

// merged returns a sorted copy with one edge per neighbour.
func merged(edges []Edge) []Edge {
	if len(edges) == 0 {
		return nil
	}
	out := slices.Clone(edges)
	slices.SortFunc(out, func(a, b Edge) int { return int(a.ID) - int(b.ID) })
	n := 1
	for _, e := range out[1:] {
		if e.ID == out[n-1].ID {
			out[n-1].Kind |= e.Kind
			continue
		}
		out[n] = e
		n++
	}
	return slices.Clip(out[:n])
}
