package inprocess

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/store"
)

// disk is a backend of files that counts how often it waits for the disk.
type disk struct {
	backend.Backend
	root  string
	syncs atomic.Int64
}

// scheme is that of the URL of a [disk].
const scheme = "counted"

// newDisk makes a backend in a new folder. Close removes it.
func newDisk(ctx context.Context) (*disk, error) {
	root, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	d := &disk{root: root}
	files := store.NewDir(root)
	files.Crash = func(m store.Moment) error {
		switch m {
		case store.Synced, store.Durable, store.Appending:
			d.syncs.Add(1)
		}
		return nil
	}
	opened := func(context.Context, string, func(string) (string, bool)) (store.Store, error) { return files, nil }
	d.Backend, err = backend.Open(ctx, backend.Options{
		URL: scheme + "://", Project: project, Stores: map[string]store.Opener{scheme: opened},
		Checkpoints: backend.CheckpointsAtEnd, // how many there are in between depends on the time
	})
	if err != nil {
		_ = os.RemoveAll(root)
		return nil, err
	}
	return d, nil
}

// Close implements [backend.Backend].
func (d *disk) Close() error {
	err := d.Backend.Close()
	_ = os.RemoveAll(d.root)
	return err
}

// durably returns an operation on a stack of the backend.
func (d *disk) durably(do operation) operation {
	return func(ctx context.Context, o sluice.Options) (r *sluice.Result, err error) {
		err = host.Locked(ctx, d, o.Stack, host.LockedOptions{Create: true}, func(ctx context.Context, s backend.Stack) error {
			o.State = s
			r, err = do(ctx, o)
			return err
		})
		return r, err
	}
}
