package rooms

import (
	"cmp"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// Migrations is the room of the changes that state migrations make. The base of a run does not change: a run that has found one ends, and the operation
// begins again with the changed state. It is safe for concurrent use.
type Migrations struct {
	mu   sync.Mutex
	list []*migration.Migration
}

// MigrationsWriter records changes. Only the admission of requests has it.
type MigrationsWriter struct {
	rooms      *Rooms
	migrations *Migrations
}

func newMigrations(rooms *Rooms) (*Migrations, *MigrationsWriter) {
	m := &Migrations{}
	return m, &MigrationsWriter{rooms, m}
}

// All returns the changes, sorted by resource.
func (m *Migrations) All() []*migration.Migration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(slices.Values(m.list), func(a, b *migration.Migration) int { return cmp.Compare(a.Resource(), b.Resource()) })
}

// Add records a change.
func (w *MigrationsWriter) Add(m *migration.Migration) {
	w.migrations.mu.Lock()
	defer w.migrations.mu.Unlock()
	w.migrations.list = append(w.migrations.list, m)
}

// Recorded returns the URN of a registration, and the recorded state that it would continue, nil if there is none. Another registration may have taken that
// state, or one below it: registered is its name.
func (w *MigrationsWriter) Recorded(g *stages.Goal) (u urn.URN, root *state.Resource, registered urn.URN) {
	names := w.rooms.Names
	who := urn.Subject{Stack: w.rooms.root.Stack(), Project: w.rooms.root.Project(), Type: g.Type, Name: g.Name, Parent: g.Parent}
	u = who.URN()
	if root = names.recordedFor(who, g.Aliases); root == nil {
		return u, nil, ""
	}
	for _, r := range state.SubtreeOf(w.rooms.Base.Resources, root).Live {
		if _, taken := names.Claimant(r); taken || names.IsSeen(r.URN) {
			return u, root, r.URN
		}
	}
	return u, root, ""
}
