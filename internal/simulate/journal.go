package simulate

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// errCrashed is the error of a recorder after the crash. To the engine it looks as if the disk had failed, and to the
// next operation as if the process had been killed.
var errCrashed = errors.New("the process was killed")

// journal is the state of a stack and checks how it is recorded. The attempt's mutex guards it.
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
}

func newJournal(a *attempt, base *state.Snapshot, crash int) *journal {
	return &journal{attempt: a, base: base, crash: crash, last: base, open: map[*state.Resource]state.Pending{}}
}

func (j *journal) Load(context.Context) (*state.Snapshot, error) { return j.base, nil }

func (j *journal) Record(_ context.Context, base *state.Snapshot) (state.Recorder, error) {
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	j.ledger = state.NewLedger(base, state.LedgerOptions{Version: "simulate", Now: now})
	return j, nil
}

func (j *journal) Begin(_ context.Context, op state.Pending) error {
	return j.record(func() error {
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

func (j *journal) End(_ context.Context, c state.Change) error {
	return j.record(func() error {
		if op, ok := j.open[c.Begun]; ok {
			j.attempt.mustBeOver(op)
			delete(j.open, c.Begun)
		}
		return j.ledger.End(c)
	})
}

func (j *journal) Rebase(_ context.Context, base *state.Snapshot) error {
	return j.record(func() error { j.ledger.Rebase(base); return nil })
}

func (j *journal) Close(context.Context) error {
	err := j.record(func() error { return nil })
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	j.closed = true
	if errors.Is(err, errCrashed) {
		return nil
	}
	return err
}

// record applies one record and checks the result.
func (j *journal) record(apply func() error) error {
	j.attempt.mu.Lock()
	defer j.attempt.mu.Unlock()
	if j.closed {
		j.attempt.fault("something is recorded after the recorder was closed")
	}
	if j.crashed() {
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
