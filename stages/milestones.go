package stages

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// milestones are what registrations have come past, by number: that they are decided, that their steps are over. Almost
// nobody waits for one, so a registration costs an entry in a map and no event. It is safe for concurrent use.
type milestones struct {
	mu      sync.RWMutex
	passed  map[int]bool
	awaited map[int]*await.Event
}

func newMilestones() *milestones {
	return &milestones{passed: map[int]bool{}, awaited: map[int]*await.Event{}}
}

func (m *milestones) pass(seq int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.passed[seq] = true
	if e, ok := m.awaited[seq]; ok {
		delete(m.awaited, seq)
		e.Fire()
	}
}

func (m *milestones) hasPassed(seq int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.passed[seq]
}

// await waits until a registration has come past, or ctx ends.
func (m *milestones) await(ctx context.Context, seq int) error {
	m.mu.Lock()
	e, ok := m.awaited[seq]
	switch {
	case m.passed[seq]:
		m.mu.Unlock()
		return nil
	case !ok:
		e = await.NewEvent()
		m.awaited[seq] = e
	}
	m.mu.Unlock()
	return e.Wait(ctx)
}
