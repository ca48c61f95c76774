package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ReadySet hands out work as soon as the work before it is over. It grows while it is in use: work is added together with
// the IDs of the work before it, which may be added later. There are no layers. Work that fails takes all work that waits
// for it out of the set, and nothing else ([steps.md 5.3] rule 4 for deletes).
//
// The IDs are those of the work and not of any graph; [Graph.Schedule] computes the order of work in a graph. They should be
// dense: the set keeps some bytes for every ID up to the highest. The lowest ID that may begin is handed out first.
//
// The zero ReadySet is empty and ready to use. It belongs to one goroutine.
//
// [steps.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#53-order
type ReadySet struct {
	nodes []readyNode
	free  heap
	open  int
}

// readyNode is one piece of work. It is absent if others wait for it and it has not been added.
type readyNode struct {
	status readyStatus
	waits  int32 // how many unfinished pieces of work it waits for
	after  []ID  // the work that waits for it
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

// Add adds a piece of work that begins only when all work in after is finished. If any of that has failed or been skipped,
// the new work is skipped at once. Add returns the IDs that are skipped now, ascending: none, or id and all work that waits
// for it. It panics if id has been added before.
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

// AddSkipped adds work that will never begin. Like Add it returns the IDs that are skipped now.
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

// Finish records that work that Next returned is done. It panics for other work.
func (r *ReadySet) Finish(id ID) {
	for _, next := range r.end(id, finished) {
		// Skipped work still waits for something that will never finish, so its count cannot reach zero here.
		n := &r.nodes[next]
		if n.waits--; n.waits == 0 && n.status == pending {
			r.release(next)
		}
	}
}

// Fail records that work that Next returned has failed. It returns, ascending, the IDs that are skipped because of it: the
// work that waits for it, directly or through others, and was not skipped before. It panics for work that Next has not
// returned.
func (r *ReadySet) Fail(id ID) []ID {
	var lost []ID
	for _, next := range r.end(id, failed) {
		lost = append(lost, r.skip(next)...)
	}
	slices.Sort(lost)
	return lost
}

// skip takes a piece of work and all work that waits for it out of the set, and returns their IDs, ascending.
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

// Open returns how many pieces of work are not finished, failed or skipped.
func (r *ReadySet) Open() int { return r.open }

// Run calls do for all work that is in the set and all that becomes ready later, each piece in a goroutine of its own as soon
// as the work before it is finished. Work that fails skips only the work that waits for it. A panic in do is a failure of
// that work. When ctx ends nothing more begins. Run waits for all work that it started; the set must not be used by others
// meanwhile.
//
// The error joins the [Failure]s, ascending by ID. If the end of ctx prevented work from beginning, its cause follows. Work that can never begin, because
// it waits for itself or for work that was never added, is an error, too.
func (r *ReadySet) Run(ctx context.Context, do func(context.Context, ID) error) error {
	run := &run{ready: r, ctx: ctx, do: do}
	run.mu.Lock()
	run.start()
	run.mu.Unlock()
	run.wg.Wait()
	slices.SortFunc(run.failures, func(a, b Failure) int { return int(a.ID) - int(b.ID) })
	var errs []error
	for _, f := range run.failures {
		errs = append(errs, f)
	}
	switch {
	case r.free.len() > 0:
		errs = append(errs, context.Cause(ctx))
	case r.open > 0 && ctx.Err() == nil:
		errs = append(errs, fmt.Errorf("%d pieces of work have not begun: they wait for each other, or for work that was never added", r.open))
	}
	return errors.Join(errs...)
}
