package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/state"
	journals "github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/urn"
)

// errCrashed is the error of a recorder after the crash. To the engine it is like a failure of the disk, and to the next
// operation as if the process had been killed.
var errCrashed = errors.New("the process was killed")

// journal records the state of a stack and checks the records. The attempt's mutex guards it.
//
// If an operation dies, or other commands read during it, everything is also recorded in a depot, as in a real run, and the
// content of the depot counts.
type journal struct {
	attempt *attempt
	base    *state.Snapshot
	crash   int // the number of the last record; 0 for no crash

	ledger  *state.Ledger // nil until a recording begins
	open    map[*state.Resource]state.Pending
	records int
	last    *state.Snapshot // as of the last record
	ending  *state.Snapshot // before the first delete of the end phase
	closed  bool

	depot   *depot             // nil if no command reads
	process *process           // the process that records there
	durably *journals.Recorder // its recorder
	log     []*record          // the records of a depot
	dead    bool               // no more writes reach the depot
	refused bool               // a record was refused
}

func newJournal(a *attempt, base *state.Snapshot, crash int) *journal {
	return &journal{attempt: a, base: base, crash: crash, last: base, open: map[*state.Resource]state.Pending{}}
}

// keep creates a depot if the state may be read before the operation is over.
func (j *journal) keep(ctx context.Context, s Schedule) {
	op := j.attempt.op
	if j.attempt.preview || j.depot == nil && op.Crash == 0 && len(op.Reads) == 0 {
		return
	}
	if j.depot == nil {
		text, err := encode(ctx, j.base)
		if err != nil {
			j.attempt.fault("the state cannot be written: %v", err)
			return
		}
		j.depot = &depot{file: []byte(text)}
	}
	j.process = &process{depot: j.depot, pause: j.attempt.pauses(s), isDead: func() error {
		j.attempt.mu.Lock()
		defer j.attempt.mu.Unlock()
		if j.dead {
			return errCrashed
		}
		return nil
	}}
}

func (j *journal) Load(context.Context) (*state.Snapshot, error) { return j.base, nil }

func (j *journal) Record(_ context.Context, base *state.Snapshot) (state.Recorder, error) {
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	j.ledger = state.NewLedger(base, ledgerOptions())
	if j.depot != nil {
		j.durably = j.process.recorder(base)
	}
	return j, nil
}

func (j *journal) Begin(ctx context.Context, op state.Pending) error {
	j.mustBeKnown(op.Resource)
	return j.record(ctx, record{begin: &op}, func() error {
		if j.ending == nil && op.Type == state.Deleting && j.attempt.isLate() {
			j.ending = j.last
		}
		err := j.ledger.Begin(op)
		if err == nil {
			j.open[op.Resource] = op
		}
		return err
	})
}

func (j *journal) End(ctx context.Context, c state.Change) error {
	j.mustBeKnown(c.Add)
	for _, r := range c.Replace {
		j.mustBeKnown(r.New)
	}
	return j.record(ctx, record{change: &c}, func() error {
		if op, ok := j.open[c.Begun]; ok {
			delete(j.open, c.Begun)
			j.attempt.mustBeOver(op)
		}
		return j.ledger.End(c)
	})
}

// mustBeKnown reports a fault if a recorded state contains an unknown.
func (j *journal) mustBeKnown(r *state.Resource) {
	if r == nil || r.Inputs.IsKnown() && r.Outputs.IsKnown() {
		return
	}
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	j.attempt.fault("%s is recorded with an unknown", r.URN)
}

func (j *journal) Rebase(ctx context.Context, base *state.Snapshot) error {
	return j.record(ctx, record{rebase: base}, func() error { j.ledger.Rebase(base); return nil })
}

func (j *journal) Snapshot() (*state.Snapshot, error) { return j.ledger.Snapshot() }

func (j *journal) Close(ctx context.Context) error {
	err := j.apply(func() error { return nil })
	if j.durably != nil {
		gone := j.durably.Close(ctx)
		if err == nil {
			err = gone
		}
	}
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	j.closed = true
	if errors.Is(err, errCrashed) {
		return nil
	}
	return err
}

// record applies one record, and makes it durable if there is a depot.
func (j *journal) record(ctx context.Context, r record, apply func() error) (err error) {
	defer func() {
		j.attempt.mu.Lock()
		defer j.attempt.mu.Unlock()
		j.refused = j.refused || err != nil
	}()
	err = j.apply(func() error {
		r.issued = j.attempt.tick()
		j.log = append(j.log, &r)
		return apply()
	})
	if err != nil || j.durably == nil {
		return err
	}
	switch {
	case r.begin != nil:
		err = j.durably.Begin(ctx, *r.begin)
	case r.change != nil:
		err = j.durably.End(ctx, *r.change)
	default:
		err = j.durably.Rebase(ctx, r.rebase)
	}
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	j.dead = j.dead || j.crashed()
	if err == nil {
		r.done = j.attempt.tick()
	}
	return err
}

// apply applies one record and checks the result.
func (j *journal) apply(apply func() error) error {
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	if j.closed {
		j.attempt.fault("something is recorded after the recorder was closed")
	}
	if j.crashed() {
		j.dead = true
		return errCrashed
	}
	j.records++
	if err := apply(); err != nil {
		j.attempt.fault("record %d is refused: %v", j.records, err)
		return err
	}
	s, err := j.ledger.Snapshot()
	if err == nil {
		err = state.Verify(s)
	}
	if err != nil {
		j.attempt.fault("after record %d the state is not valid: %v", j.records, err)
		return err
	}
	j.last = s
	return nil
}

func (j *journal) crashed() bool { return j.crash > 0 && j.records >= j.crash }

// isOpen reports whether an operation of that kind has been recorded as begun and not as ended.
func (j *journal) isOpen(u urn.URN, id string, kind state.PendingType) bool {
	for _, op := range j.open {
		if op.Type == kind && op.Resource.URN == u && (kind != state.Deleting || op.Resource.ID == id) {
			return true
		}
	}
	return false
}

// isBusy reports whether something other than the delete of an old copy is running.
func (j *journal) isBusy(u urn.URN) bool {
	for _, op := range j.open {
		if op.Resource.URN == u && op.Type != state.Deleting {
			return true
		}
	}
	return false
}

// durable returns the records that are certainly durable: the call of the recorder has returned, or a later one that includes
// elided records. The mutex is held.
func (j *journal) durable() map[*record]bool {
	last := 0 // when the latest durable record was issued
	for _, r := range j.log {
		if r.done > 0 && !r.isElided() {
			last = max(last, r.issued)
		}
	}
	out := map[*record]bool{}
	for _, r := range j.log {
		out[r] = r.done > 0 && (!r.isElided() || r.done < last)
	}
	return out
}

// judge compares the snapshot of a reader with the records that were durable before the read began and those that were issued
// before it ended. The mutex is held.
func (j *journal) judge(seen *state.Snapshot, durable map[*record]bool) (faults []string) {
	b := bounds{map[any][]any{}, map[any]bool{}}
	b.rebase(j.base, true)
	for _, r := range j.log {
		b.apply(r, durable[r])
	}
	is, may, lacking := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, k := range contents(seen) {
		is[outlineOf(k)] = true
	}
	for k := range b.may {
		may[outlineOf(k)] = true
	}
	for k, those := range b.must {
		if !slices.ContainsFunc(those, func(k any) bool { return is[outlineOf(k)] }) {
			lacking[outlineOf(k)] = true
		}
	}
	for _, text := range sorted(lacking) {
		faults = append(faults, "lacks what was recorded before: "+text)
	}
	for _, text := range sorted(is) {
		if !may[text] {
			faults = append(faults, "has what was not recorded, or no longer: "+text)
		}
	}
	return faults
}

// outlineOf returns the identity of a recorded state or a pending operation for a reader. Renaming a resource changes the URNs of
// its descendants, and the name of an old copy.
func outlineOf(k any) string {
	if op, ok := k.(state.Pending); ok && op.Type == state.Creating {
		return fmt.Sprintf("%s %s", op.Type, op.Resource.URN.Name())
	} else if ok {
		return fmt.Sprintf("%s %s", op.Type, op.Resource.ID) // without the name, which may change with that of its object
	}
	r := k.(*state.Resource)
	name := r.URN.Name()
	if r.Delete {
		name = "old copy"
	}
	text, err := encoder().Resource(context.Background(), &state.Resource{
		ID: r.ID, Type: r.Type, Custom: r.Custom, Delete: r.Delete, External: r.External, PendingReplacement: r.PendingReplacement,
		Taint: r.Taint, Protect: r.Protect, Inputs: r.Inputs, Outputs: r.Outputs,
	}, false)
	return fmt.Sprintf("%s: %s %v", name, text, err)
}
