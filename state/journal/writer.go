package journal

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/internal/commit"
)

// flush returns when the first n records are durable. r.mu is held.
func (r *Recorder) flush(ctx context.Context, n int) error {
	return r.commits.Flush(n, func() commit.Batch { return r.takeQueue(ctx) })
}

// takeQueue makes a write of the queue. r.mu is held.
func (r *Recorder) takeQueue(ctx context.Context) commit.Batch {
	queue, create := r.queue, !r.created
	r.queue, r.begun = nil, true
	if !create {
		r.group++
	}
	group, size := r.group, 0
	return commit.Batch{
		Write: func() (err error) {
			size, err = r.write(ctx, queue, group, create)
			return err
		},
		End: func(err error) error {
			if err != nil {
				return fmt.Errorf("write the journal of stack %s (%s): %w", r.options.Checkpoint.Stack, r.options.Store.Name(), err)
			}
			r.created = true
			r.compactor.grown += size
			r.compactor.schedule(ctx, r)
			return nil
		},
	}
}

// write returns the number of bytes that it has written.
func (r *Recorder) write(ctx context.Context, queue []*entry, group int, create bool) (size int, err error) {
	b := make([]byte, 0, sizeOf(queue))
	if create {
		if b, err = appendHeader(b, r.header()); err != nil {
			return 0, err
		}
	}
	for _, e := range queue {
		e.Group = group
		if !create {
			e.First = queue[0].Number
		}
		if b, err = appendEntry(b, e); err != nil {
			return 0, err
		}
	}
	if create {
		return len(b), r.options.Store.Create(ctx, b, r.options.Content)
	}
	return len(b), r.options.Store.Append(ctx, b)
}

// sizeOf is the approximate size of the frames of a queue in bytes, so that long records are copied once.
func sizeOf(queue []*entry) int {
	const header, each = 1024, 256
	n := header + each*len(queue)
	for _, e := range queue {
		for _, r := range e.New {
			n += len(r)
		}
	}
	return n
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
