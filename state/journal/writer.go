package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state"
)

// flush returns when the first n records are durable. Whoever finds nobody writing writes for all. r.mu is held.
func (r *Recorder) flush(ctx context.Context, n int) error {
	for r.err == nil && r.written < n {
		if r.writing {
			r.idle.Wait()
			continue
		}
		r.writeQueue(ctx)
	}
	return r.err
}

// writeQueue appends what is in the queue. r.mu is held, but not during the write.
func (r *Recorder) writeQueue(ctx context.Context) {
	queue, create := r.queue, !r.created
	r.queue, r.writing, r.begun = nil, true, true
	if !create {
		r.group++
	}
	var size int
	group, err := r.group, errors.New("the writer of the journal panicked") // the others must not wait for ever
	defer func() {
		r.writing = false
		if err != nil {
			r.err = fmt.Errorf("write the journal of stack %s (%s): %w", r.options.Checkpoint.Stack, r.options.Store.Name(), err)
		} else {
			r.created, r.written = true, queue[len(queue)-1].Number
			r.folds.grown += size
			r.folds.schedule(ctx, r)
		}
		r.idle.Broadcast()
	}()
	r.mu.Unlock()
	defer r.mu.Lock()
	size, err = r.write(ctx, queue, group, create)
}

// write returns how many bytes it has written.
func (r *Recorder) write(ctx context.Context, queue []*entry, group int, create bool) (size int, err error) {
	var b []byte
	if create {
		if b, err = appendHeader(b, r.header()); err != nil {
			return 0, err
		}
	}
	for _, e := range queue {
		e.Group = group
		if b, err = appendEntry(b, e); err != nil {
			return 0, err
		}
	}
	if create {
		return len(b), r.options.Store.Create(ctx, b, r.options.Content)
	}
	return len(b), r.options.Store.Append(ctx, b)
}

func (r *Recorder) header() *Header {
	o := r.options
	h := &Header{
		Format: format, Stack: o.Checkpoint.Stack, Run: r.run, Tool: o.Tool, Start: o.Now(), Secrets: secretsOf(o.Secrets),
		Base: Base{Digest: state.Digest(o.Content)},
	}
	if r.isNumbered() {
		h.Base.Numbered, h.Base.Resources, h.Base.Pending = true, len(o.Base.Resources), len(o.Base.Pending)
	}
	return h
}
