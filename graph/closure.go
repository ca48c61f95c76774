package graph

import (
	"fmt"
	"slices"
)

// Closure computes, one answer at a time, which dependents must be deleted together with a node that is deleted before
// it is replaced ([steps.md 3.11]). The candidates are the root's transitive dependents. A candidate is ready to be probed
// as soon as all its direct dependencies among the candidates have been answered, so independent candidates can be
// probed at the same time. The outcome is the same as when one after the other is probed in base order.
//
// A candidate is out without a probe if none of its direct dependencies is in the set: every condition of needsReplace
// names a direct dependency that is in the set. The same then holds for its own dependents.
//
// Only edges to a lower ID count, as in a valid base, so a Closure always ends. Join nodes are ignored: the rule does
// not speak of the children of components. A Closure does not look at the graph again after it is made, and belongs to
// one goroutine.
//
// [steps.md 3.11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#311-the-closure-of-a-delete-before-replace
type Closure struct {
	root       ID
	candidates []ID // ascending
	at         *index
	dependents adjacency
	waits      []int32
	touched    []bool // a direct dependency is in the set
	status     []candidateStatus
	fresh      []ID // became ready since the last call of Ready
	open       int  // not answered yet
}

type candidateStatus uint8

const (
	waiting candidateStatus = iota
	asked
	out
	in
)

// NewClosure starts the closure of root. Kinds are the edges to follow, 0 meaning [NotParent]. A node for which
// impossible is true is neither a candidate nor followed; impossible may be nil and is called at most once for each
// node. The cost is the edges around the candidates, times a logarithm.
func NewClosure(g *Graph, root ID, kinds Kind, impossible func(ID) bool) *Closure {
	kinds = kinds.or(NotParent)
	c := &Closure{root: root, candidates: g.later(root, kinds, impossible)}
	n := len(c.candidates)
	c.at = newIndex(g.Len(), n)
	for _, id := range c.candidates {
		c.at.add(id)
	}
	c.waits, c.touched, c.status = make([]int32, n), make([]bool, n), make([]candidateStatus, n)
	c.open = n
	c.dependents = adjacency{start: make([]int32, 1, n+1)}
	for _, id := range c.candidates {
		for _, e := range g.dependents[id] {
			if d, found := c.at.at(e.ID); found && e.Kind&kinds != 0 && e.ID > id {
				c.dependents.to = append(c.dependents.to, d)
				c.waits[d]++
			}
		}
		c.dependents.start = append(c.dependents.start, int32(len(c.dependents.to)))
	}
	for _, e := range g.dependents[root] {
		if d, found := c.at.at(e.ID); found && e.Kind&kinds != 0 {
			c.touched[d] = true
		}
	}
	for i := range int32(n) {
		if c.waits[i] == 0 {
			c.release(i)
		}
	}
	return c
}

// Root returns the node whose replacement started the closure.
func (c *Closure) Root() ID { return c.root }

// Candidates returns all candidates in base order. The result must not be changed.
func (c *Closure) Candidates() []ID { return c.candidates }

// IsCandidate reports whether id is a candidate. The root is not.
func (c *Closure) IsCandidate(id ID) bool {
	_, found := c.at.at(id)
	return found
}

// Ready returns the candidates that have become ready to be probed since the last call, ascending.
func (c *Closure) Ready() []ID {
	fresh := slices.DeleteFunc(c.fresh, func(id ID) bool { return c.isAnswered(id) })
	c.fresh = nil
	slices.Sort(fresh)
	return fresh
}

// Answer records whether a candidate is in the set. It may come before Ready has returned the candidate, as when a
// registration proves that the candidate no longer depends on the root; the early answer then counts. It panics if id is
// not a candidate or has been answered.
func (c *Closure) Answer(id ID, inSet bool) {
	i, found := c.at.at(id)
	if !found || c.status[i] >= out {
		panic(fmt.Sprintf("graph: answer for node %d, which is not an open candidate of the closure of %d", id, c.root))
	}
	c.propagate(i, inSet)
}

func (c *Closure) propagate(first int32, inSet bool) {
	c.mark(first, inSet)
	// The work list holds the latest answers. A candidate without a touched dependency is answered here, too.
	for todo := []int32{first}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, d := range c.dependents.of(i) {
			c.waits[d]--
			c.touched[d] = c.touched[d] || c.status[i] == in
			if c.waits[d] > 0 || c.status[d] >= out {
				continue
			}
			if c.touched[d] {
				c.release(d)
				continue
			}
			c.mark(d, false)
			todo = append(todo, d)
		}
	}
}

func (c *Closure) mark(i int32, inSet bool) {
	c.open--
	c.status[i] = out
	if inSet {
		c.status[i] = in
	}
}

func (c *Closure) release(i int32) {
	c.status[i] = asked
	c.fresh = append(c.fresh, c.candidates[i])
}

func (c *Closure) isAnswered(id ID) bool {
	i, found := c.at.at(id)
	return found && c.status[i] >= out
}

// InSet reports whether id is the root or has been answered with yes.
func (c *Closure) InSet(id ID) bool {
	if id == c.root {
		return true
	}
	i, found := c.at.at(id)
	return found && c.status[i] == in
}

// Open returns how many candidates have no answer yet.
func (c *Closure) Open() int { return c.open }

// Done reports whether every candidate has been answered.
func (c *Closure) Done() bool { return c.open == 0 }

// Members returns the candidates that are in the set so far, in base order, without the root.
func (c *Closure) Members() []ID {
	var members []ID
	for i, id := range c.candidates {
		if c.status[i] == in {
			members = append(members, id)
		}
	}
	return members
}

// ReplaceClosure computes the closure when each question can be answered at once: it calls needs for one candidate after
// another. needs may use inSet to look at the set so far. It returns the members in base order, without the root.
func ReplaceClosure(g *Graph, root ID, kinds Kind, impossible func(ID) bool, needs func(id ID, inSet func(ID) bool) bool) []ID {
	c := NewClosure(g, root, kinds, impossible)
	for ready := c.Ready(); len(ready) > 0; ready = c.Ready() {
		for _, id := range ready {
			c.Answer(id, needs(id, c.InSet))
		}
	}
	return c.Members()
}
