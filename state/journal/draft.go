package journal

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/state"
)

// draft is a record that is being made.
type draft struct {
	resources []*state.Resource // that may be new to the journal
	keep      bool              // they will be in the checkpoint
	wait      bool              // until the record is durable
	soon      bool              // write it soon, and not only with the next record that a caller waits for
	happened  bool              // the last checkpoint must contain it, even if the journal cannot be written any more
	apply     func() error      // changes the ledger
	// fill completes the entry. ref is the number of a resource.
	fill func(e *entry, ref func(*state.Resource) int)
}

// record applies a record and appends it. The encoding, which is slow, is done by the caller's goroutine without the lock.
func (r *Recorder) record(ctx context.Context, d draft) error {
	ctx = context.WithoutCancel(ctx) // the change has happened and is recorded, even if the caller gives up
	texts := make([][]byte, len(d.resources))
	for i, res := range d.resources {
		if res == nil || r.knows(res) {
			continue
		}
		r.options.Ledger.ReuseCiphertexts(res)
		var err error
		if texts[i], err = r.options.Checkpoint.Encoder.Resource(ctx, res, d.keep); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return state.ErrClosed
	}
	if err := r.commits.Err(); err != nil {
		if d.happened {
			return errors.Join(err, d.apply())
		}
		return err
	}
	if err := r.introduceBase(ctx); err != nil {
		return err
	}
	if err := d.apply(); err != nil {
		return err
	}
	e := &entry{At: r.next}
	var fault error
	d.fill(e, func(res *state.Resource) int {
		n, ok := r.numbers[res]
		if ok {
			return n
		}
		r.number(res)
		text, err := r.textOf(ctx, res, d.resources, texts)
		fault = errors.Join(fault, err)
		e.New = append(e.New, text)
		return r.next - 1
	})
	if fault != nil {
		r.commits.Fail(fault) // the ledger contains a change that the journal cannot
		return fault
	}
	e.Number = r.commits.Add()
	r.changed, r.queue = e.Number, append(r.queue, e)
	if d.wait {
		return r.flush(ctx, e.Number)
	}
	if d.soon {
		r.compactor.flushSoon(ctx, r)
	}
	return nil
}

func (r *Recorder) knows(res *state.Resource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.numbers[res]
	return ok
}

// textOf is the encoding of a resource, which is almost always in the cache.
func (r *Recorder) textOf(ctx context.Context, res *state.Resource, among []*state.Resource, texts [][]byte) ([]byte, error) {
	for i, other := range among {
		if other == res && texts[i] != nil {
			return texts[i], nil
		}
	}
	return r.options.Checkpoint.Encoder.Resource(ctx, res, false)
}

// introduceBase completes the first record of a journal whose base has no numbers. r.mu is held.
func (r *Recorder) introduceBase(ctx context.Context) error {
	if r.created || len(r.queue) == 0 || r.queue[0].Kind != kindRebase || r.queue[0].Base != nil {
		return nil
	}
	e := r.queue[0]
	var fault error
	fillRebase(e, r.options.Base, func(res *state.Resource) int {
		if n, ok := r.numbers[res]; ok {
			return n
		}
		r.number(res)
		text, err := r.options.Checkpoint.Encoder.Resource(ctx, res, true)
		fault = errors.Join(fault, err)
		e.New = append(e.New, text)
		return r.next - 1
	})
	if fault != nil {
		r.commits.Fail(fault)
	}
	return fault
}
