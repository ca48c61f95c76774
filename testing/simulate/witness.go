package simulate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/state"
)

// record is one call of the recorder. The attempt's mutex guards it.
type record struct {
	begin  *state.Pending
	change *state.Change
	rebase *state.Snapshot
	// issued is the time of the call, and done that of its return without an error, 0 until then. Both are by the clock of the
	// attempt.
	issued, done int
}

// isElided reports whether the record may be written later.
func (r *record) isElided() bool { return r.change != nil && r.change.Elide }

// observe reads the state as another command would during the operation, or after its death.
func (a *attempt) observe(ctx context.Context, when string) *state.Snapshot {
	a.mu.Lock()
	durable := a.journal.durable()
	a.mu.Unlock()
	seen, err := a.journal.depot.read(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.fault("the state cannot be read %s: %v", when, err)
		return a.journal.last
	}
	if seen != nil {
		if err := state.Verify(seen); err != nil {
			a.fault("the state that is read %s is not valid: %v", when, err)
		}
	}
	for _, f := range a.journal.judge(seen, durable) {
		a.fault("the state that is read %s %s", when, f)
	}
	return seen
}

// bounds are the lower and upper bounds of what a reader gets: recorded states (*state.Resource) and pending operations
// (state.Pending).
type bounds struct {
	must map[any][]any // each with itself and its possible replacements
	may  map[any]bool
}

// add records that k exists from a record on.
func (b bounds) add(k any, durable bool) {
	b.may[k] = true
	if durable {
		b.must[k] = []any{k}
	}
}

// remove records that k is removed by a record, and what replaces it.
func (b bounds) remove(k any, durable bool, instead ...any) {
	if durable {
		delete(b.may, k)
	}
	for must, those := range b.must {
		switch {
		case !slices.Contains(those, k):
		case durable || len(instead) == 0: // the replacement is required by itself
			delete(b.must, must)
		default:
			b.must[must] = append(slices.Clone(those), instead...)
		}
	}
}

// rebase records that a snapshot replaces everything.
func (b bounds) rebase(s *state.Snapshot, durable bool) {
	now := contents(s)
	for k := range b.may {
		if !slices.Contains(now, k) {
			b.remove(k, durable)
		}
	}
	for _, k := range now {
		op, pending := k.(state.Pending)
		b.add(k, durable && (!pending || op.Type == state.Creating)) // a run resolves other pending operations
	}
}

// apply records the effect of a record.
func (b bounds) apply(r *record, durable bool) {
	switch {
	case r.rebase != nil:
		b.rebase(r.rebase, durable)
	case r.begin != nil:
		b.add(*r.begin, durable)
	case r.change != nil:
		b.change(*r.change, durable)
	}
}

func (b bounds) change(c state.Change, durable bool) {
	var added []any
	for _, p := range c.Replace {
		b.remove(p.Old, durable, p.New)
		added = append(added, p.New)
	}
	if c.Add != nil {
		added = append(added, c.Add)
	}
	for k := range b.may {
		if op, ok := k.(state.Pending); ok && op.Resource == c.Begun {
			b.remove(op, durable, added...)
		}
	}
	for _, old := range c.Remove {
		b.remove(old, durable, added...)
	}
	for _, k := range added {
		b.add(k, durable)
	}
}

// contents lists the content of a snapshot; nil is an empty one.
func contents(s *state.Snapshot) []any {
	var all []any
	if s != nil {
		for _, r := range s.Resources {
			all = append(all, r)
		}
		for _, op := range s.Pending {
			all = append(all, op)
		}
	}
	return all
}

// readers reads the state at the times in the operation.
func (a *attempt) readers(ctx context.Context, wg *conc.WaitGroup) {
	if a.preview {
		return // the state does not change
	}
	for _, at := range a.op.Reads {
		wg.Go(func() {
			time.Sleep(time.Duration(at) * time.Millisecond)
			a.observe(ctx, fmt.Sprintf("after %d ms", at))
		})
	}
}
