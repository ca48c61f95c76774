package graph

import (
	"fmt"
	"slices"
)

// ReadySet hands out work as soon as what it waits for is over. It grows while it is in use: work is added together with the
// IDs of what must be over before it, which may be added later. There are no layers. Work that fails takes everything that
// waits for it out of the set, and nothing else (steps.md 5.3 rule 4 for deletes).
//
// The IDs are those of the work and not of any graph; [Graph.Schedule] computes what waits for what in a graph. They should be
// dense: the set keeps some bytes for every ID up to the highest. The lowest ID that may begin is handed out first.
//
// The zero ReadySet is empty and ready to use. It belongs to one goroutine.
type ReadySet struct {
	nodes []readyNode
	free  heap
	open  int
}

// readyNode is one piece of work. One that is only known as what others wait for is absent.
type readyNode struct {
	status readyStatus
	waits  int32 // how many that it waits for are not finished
	after  []ID  // what waits for it
}

type readyStatus uint8

const (
	absent readyStatus = iota
	pending
	started
	finished
	failed
	skipped
)

// Add adds a piece of work that begins only when everything in after is finished. If any of that has failed or been
// skipped, the work is skipped at once. Add returns what is skipped now, ascending: nothing, or id and what waits for it. It
// panics if id has been added before.
func (r *ReadySet) Add(id ID, after ...ID) []ID {
	if r.node(id).status != absent {
		panic(fmt.Sprintf("graph: work %d is added twice", id))
	}
	lost := false
	for _, a := range after {
		before := r.node(a)
		switch before.status {
		case finished:
		case failed, skipped:
			lost = true
		default:
			before.after = append(before.after, id)
			r.nodes[id].waits++
		}
	}
	r.open++
	if lost {
		return r.skip(id)
	}
	r.nodes[id].status = pending
	if r.nodes[id].waits == 0 {
		r.release(id)
	}
	return nil
}

// AddSkipped adds work that will never begin. It returns what is skipped with it, as Add does.
func (r *ReadySet) AddSkipped(id ID) []ID {
	if r.node(id).status != absent {
		panic(fmt.Sprintf("graph: work %d is added twice", id))
	}
	r.open++
	return r.skip(id)
}

// node returns the entry of an ID. It is valid until the next call.
func (r *ReadySet) node(id ID) *readyNode {
	if missing := int(id) + 1 - len(r.nodes); missing > 0 {
		r.nodes = append(r.nodes, make([]readyNode, missing)...)
	}
	return &r.nodes[id]
}

func (r *ReadySet) release(id ID) {
	if r.free.less == nil {
		r.free.less = func(a, b int32) bool { return a < b }
	}
	r.free.push(int32(id))
}

// Next hands out the lowest ID that may begin, false if none may. Each must be finished or failed once.
func (r *ReadySet) Next() (ID, bool) {
	if r.free.len() == 0 {
		return 0, false
	}
	id := ID(r.free.pop())
	r.nodes[id].status = started
	return id, true
}

// Free returns how many pieces of work may begin and have not been handed out.
func (r *ReadySet) Free() int { return r.free.len() }

// Finish records that work that Next returned is done. It panics for any other.
func (r *ReadySet) Finish(id ID) {
	for _, next := range r.end(id, finished) {
		// What has been skipped still waits for something that will never finish, so its count cannot reach zero here.
		n := &r.nodes[next]
		if n.waits--; n.waits == 0 && n.status == pending {
			r.release(next)
		}
	}
}

// Fail records that work that Next returned was not done. It returns, ascending, what is skipped because of it: what waits
// for it, directly or through others, and was not skipped before. It panics for any work that Next has not returned.
func (r *ReadySet) Fail(id ID) []ID {
	var lost []ID
	for _, next := range r.end(id, failed) {
		lost = append(lost, r.skip(next)...)
	}
	slices.Sort(lost)
	return lost
}

// skip takes work and what waits for it out of the set and returns what it has taken out, ascending.
func (r *ReadySet) skip(first ID) []ID {
	var lost []ID
	for todo := []ID{first}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := &r.nodes[id]
		if n.status == skipped {
			continue
		}
		n.status = skipped
		r.open--
		lost = append(lost, id)
		todo = append(todo, n.after...)
		n.after = nil
	}
	slices.Sort(lost)
	return lost
}

func (r *ReadySet) end(id ID, as readyStatus) (after []ID) {
	if id < 0 || int(id) >= len(r.nodes) || r.nodes[id].status != started {
		panic(fmt.Sprintf("graph: end of work %d, which has not been handed out or has ended before", id))
	}
	n := &r.nodes[id]
	after, n.after = n.after, nil
	n.status = as
	r.open--
	return after
}

// Open returns how much of what was added is not finished, failed or skipped.
func (r *ReadySet) Open() int { return r.open }
