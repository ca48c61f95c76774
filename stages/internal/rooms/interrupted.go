package rooms

import (
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// InterruptedCreates are the creates that earlier runs began and whose outcome is unknown, by URN (state.md 9.4 R-6). They are
// found before the program starts, and none is added later. [InterruptedCreatesWriter] resolves them.
type InterruptedCreates struct {
	ByURN map[urn.URN]*stages.InterruptedCreate

	mu      sync.Mutex                    // guards creates
	creates map[urn.URN][]*state.Resource // those that are not resolved
}

// InterruptedCreatesWriter resolves interrupted creates. Only the step executor has it.
type InterruptedCreatesWriter struct{ creates *InterruptedCreates }

func newInterruptedCreates() (*InterruptedCreates, *InterruptedCreatesWriter) {
	i := &InterruptedCreates{ByURN: map[urn.URN]*stages.InterruptedCreate{}, creates: map[urn.URN][]*state.Resource{}}
	return i, &InterruptedCreatesWriter{i}
}

// open finds the interrupted creates among pending operations.
func (d *InterruptedCreates) open(was Recorded, b *Base) {
	for _, op := range was.Snapshot.Pending {
		if !op.IsInterruptedCreate() {
			continue
		}
		u := op.Resource.URN
		of := d.ByURN[u]
		if of == nil {
			of = &stages.InterruptedCreate{URN: u, Again: true}
			d.ByURN[u] = of
		}
		d.creates[u] = append(d.creates[u], op.Resource)
		of.Open = of.Open || !HasNoObject(op.Resource) && !b.hasObject(op.Resource)
		of.Again = of.Again && (was.Again[op.Resource] || HasNoObject(op.Resource))
	}
}

// Resolve removes the interrupted creates of a URN, and returns them.
func (w *InterruptedCreatesWriter) Resolve(u urn.URN) []*state.Resource {
	i := w.creates
	i.mu.Lock()
	defer i.mu.Unlock()
	creates := i.creates[u]
	delete(i.creates, u)
	return creates
}

// HasNoObject reports whether the create of a resource makes nothing outside the state, so that its outcome cannot be uncertain.
func HasNoObject(res *state.Resource) bool {
	return !res.Custom || res.Type.IsProvider() || res.Type.Package() == stages.BuiltinPackage
}
