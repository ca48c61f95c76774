package requests

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// Migrations evaluates the state migrations of registrations. A migration that changes the recorded state ends the run, and the operation begins again with
// the changed state (decision 0280).
type Migrations struct {
	control *control.Control
	writer  *rooms.MigrationsWriter
	rooms   *rooms.Rooms

	mode      stages.Mode
	hasPlan   bool // the operation follows or makes a plan
	targeting stages.Targeting
	recorded  state.Snapshot // without its resources
	migrated  map[urn.URN]bool

	areLeft atomic.Bool             // true once something was left: nearly all runs have no remote component with migrations
	mu      sync.Mutex              // guards left
	left    map[urn.URN]inheritance // by the name of the component
}

// inheritance is what the registration of a remote component leaves for the registration that its provider makes.
type inheritance struct {
	functions []migration.Function
	aliases   []urn.Alias
}

func newMigrations(c *control.Control, b *rooms.Rooms, w *rooms.MigrationsWriter, s stages.Settings) *Migrations {
	return &Migrations{
		control: c, writer: w, rooms: b, mode: s.Mode, hasPlan: s.Plan != nil || s.MakePlan, targeting: s.Targeting, recorded: *s.Base,
		migrated: s.Migrated, left: map[urn.URN]inheritance{},
	}
}

// leave keeps the functions of a remote component until its provider registers it.
func (m *Migrations) leave(u urn.URN, of inheritance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[u] = of
	m.areLeft.Store(true)
}

// take returns what was left for a registration, once.
func (m *Migrations) take(u urn.URN) inheritance {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.left[u]
	delete(m.left, u)
	return of
}

// evaluate calls the functions of a registration. It returns nil if they change nothing, or there is no recorded state. Refreshes and destroys work on
// the recorded state as it is.
func (m *Migrations) evaluate(ctx context.Context, g *stages.Goal, functions []migration.Function) (*migration.Migration, error) {
	if len(functions) == 0 || m.mode != stages.ModeUpdate {
		return nil, nil
	}
	u, root, taken := m.writer.Recorded(g)
	if root == nil {
		return nil, nil
	}
	if taken != "" {
		return nil, fmt.Errorf("state migration of %s: the program has registered %s before; a registration with a migration must come before all "+
			"others that continue a part of its recorded state", u, taken)
	}
	recorded := m.recorded
	recorded.Resources = m.rooms.Base.Resources
	found, err := migration.Evaluate(ctx, &recorded, root, u, functions)
	if err != nil || found == nil {
		return nil, err
	}
	if why := m.refusal(u); why != "" {
		return nil, fmt.Errorf("state migration of %s: it would change the recorded state, which is not possible %s", u, why)
	}
	return found, nil
}

// refusal returns why the state of a resource must not be changed, "" if it may be.
func (m *Migrations) refusal(u urn.URN) string {
	t := m.targeting
	switch {
	case m.migrated[u]:
		return "again: the functions must leave a state that they have changed as it is"
	case m.hasPlan:
		return "with a plan, which does not have such changes; run without the plan"
	case t.IsPartial() || t.Replace.IsConstrained():
		return "with targets, excludes or replacements that were asked for; run without these"
	case len(m.rooms.Base.Pending) > 0:
		return fmt.Sprintf("while an operation that was interrupted is pending (%s); resolve that first, with a recovery or a refresh", m.rooms.Base.Pending[0].Resource.URN)
	}
	return ""
}
