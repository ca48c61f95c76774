package yaml

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/stages"
)

// queue gives the resources of a program their turns to register. In a preview the order is fixed: by the number of resources and
// variables that a resource needs one after the other, then by its place in the text. So two previews of one program are the same,
// whatever the latencies of providers. In an update, where a step may take an hour, a resource waits only for those that are ready and
// come before it in the text. It is safe for concurrent use.
type queue struct {
	places map[*bind.Node]*turn // of the resources
	strict bool

	mu    sync.Mutex // guards what follows, and the turns
	needs map[*bind.Node]int
	users map[*bind.Node][]*bind.Node
	open  turnHeap
}

// turn is the turn of one resource.
type turn struct {
	ordinal, depth int
	come           *await.Event
	over           bool
	calls          bool // its expressions call functions of packages, which may take long
}

// turnHeap has the turns that have begun to count, the first one at its top.
type turnHeap []*turn

func (h turnHeap) Len() int           { return len(h) }
func (h turnHeap) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h turnHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *turnHeap) Push(t any)        { *h = append(*h, t.(*turn)) }

func (h *turnHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (t *turn) compare(other *turn) int {
	return cmp.Or(cmp.Compare(t.depth, other.depth), cmp.Compare(t.ordinal, other.ordinal))
}

// newQueue returns the queue of a program. Each node comes after its needs.
func newQueue(nodes []*bind.Node, preview bool) *queue {
	q := &queue{
		places: map[*bind.Node]*turn{}, strict: preview, needs: make(map[*bind.Node]int, len(nodes)), users: map[*bind.Node][]*bind.Node{},
	}
	depths := make(map[*bind.Node]int, len(nodes))
	for _, n := range nodes {
		q.needs[n] = len(n.Needs)
		for _, need := range n.Needs {
			q.users[need] = append(q.users[need], n)
			depths[n] = max(depths[n], depths[need]+1)
		}
	}
	written := slices.SortedStableFunc(slices.Values(nodes), func(a, b *bind.Node) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	for i, n := range written {
		if n.Resource == nil {
			continue
		}
		t := &turn{ordinal: i + 1, come: await.NewEvent(), calls: callsFunctions(n)}
		if preview {
			t.depth = depths[n]
		}
		q.places[n] = t
	}
	for _, n := range nodes {
		if preview || q.needs[n] == 0 {
			q.add(n)
		}
	}
	q.advance()
	return q
}

// callsFunctions reports whether an expression of a node calls a function of a package.
func callsFunctions(n *bind.Node) bool {
	calls := false
	for _, x := range n.Exprs() {
		ast.Walk(x, func(e ast.Expr) {
			_, is := e.(*ast.Invoke)
			calls = calls || is
		})
	}
	return calls
}

// add makes the turn of a resource count. In an update nothing waits for a resource whose expressions call functions.
func (q *queue) add(n *bind.Node) {
	switch t := q.places[n]; {
	case t == nil:
	case t.calls && !q.strict:
		t.come.Fire()
	default:
		heap.Push(&q.open, t)
	}
}

// advance removes the turns that are over and lets the next one come.
func (q *queue) advance() {
	for len(q.open) > 0 && q.open[0].over {
		heap.Pop(&q.open)
	}
	if len(q.open) > 0 {
		q.open[0].come.Fire()
	}
}

// wait waits for the turn of a resource, and returns its place in the order. The turn ends when the request is submitted.
func (q *queue) wait(ctx context.Context, n *bind.Node) *stages.Ordered {
	t := q.places[n]
	_ = t.come.Wait(ctx) // the request fails with the error of the context
	return &stages.Ordered{Ordinal: t.ordinal, Submitted: func() { q.end(t) }}
}

func (q *queue) end(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.over = true
	q.advance()
}

// finish ends the turn of a node that needs no more, and lets those that need it count.
func (q *queue) finish(n *bind.Node) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t := q.places[n]; t != nil {
		t.over = true
	}
	for _, user := range q.users[n] {
		if q.needs[user]--; q.needs[user] == 0 && !q.strict {
			q.add(user)
		}
	}
	q.advance()
}
