package stages

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// sequels lets the steps of one registration wait for deletes among those of others (ORD-4). Almost every registration
// waits for nothing; the exceptions are what a delete-before-replace takes with it. Waiting costs no worker.
type sequels struct {
	mu      sync.Mutex
	ended   map[*Step]bool // deletes that are over: true if they were done
	waiting map[*Step][]*sequel
	awaited map[*Step]*await.Event
}

// sequel is a registration's steps and how many deletes they still wait for.
type sequel struct {
	built Built
	left  int
}

func newSequels() *sequels {
	return &sequels{ended: map[*Step]bool{}, waiting: map[*Step][]*sequel{}, awaited: map[*Step]*await.Event{}}
}

// wait keeps b if something that it must come after is not over, and tells whether it did.
func (q *sequels) wait(b Built) bool {
	if len(b.after) == 0 {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s := &sequel{built: b}
	for _, step := range b.after {
		if _, over := q.ended[step]; !over {
			q.waiting[step] = append(q.waiting[step], s)
			s.left++
		}
	}
	return s.left > 0
}

// over records that a registration's steps have ended, all of them taken or not, and returns what waited for the last of
// its deletes.
func (q *sequels) over(steps []*Step) []Built {
	q.mu.Lock()
	defer q.mu.Unlock()
	var next []Built
	for _, step := range steps {
		if step.Op != OpDeleteReplaced && step.Op != OpDelete {
			continue
		}
		q.ended[step] = step.taken
		if e, ok := q.awaited[step]; ok {
			delete(q.awaited, step)
			e.Fire()
		}
		for _, s := range q.waiting[step] {
			if s.left--; s.left == 0 {
				next = append(next, s.built)
			}
		}
		delete(q.waiting, step)
	}
	return next
}

// await waits until deletes are over, for steps that another stage than execute takes.
func (q *sequels) await(ctx context.Context, deletes []*Step) error {
	for _, step := range deletes {
		if err := q.eventOf(step).Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (q *sequels) eventOf(step *Step) *await.Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.awaited[step]
	if !ok {
		e = await.NewEvent()
		q.awaited[step] = e
	}
	if _, over := q.ended[step]; over {
		delete(q.awaited, step)
		e.Fire()
	}
	return e
}

// isLost tells whether a delete that b must come after was not done, so that b cannot be either.
func (q *sequels) isLost(b Built) bool {
	if len(b.after) == 0 {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, step := range b.after {
		if !q.ended[step] {
			return true
		}
	}
	return false
}
