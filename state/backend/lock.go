package backend

import (
	"context"

	"github.com/sluice-iac/sluice/state/lock"
)

func (s stackFiles) lockOptions() lock.Options {
	return lock.Options{
		Store: s.store, Folder: s.keys().Locks(), Files: s.keys().Written(), Every: s.every, Lost: s.lost, Machine: s.options.Machine,
	}
}

// lock takes the lock without recovering anything.
func (s stackFiles) lock(ctx context.Context, o LockOptions) (*lock.Lock, error) {
	if err := s.prepareWrite(ctx); err != nil {
		return nil, err
	}
	how := s.lockOptions()
	how.Operation, how.OnLost, how.Note = o.Operation, o.OnLost, func(text string) { s.options.note(text) }
	return lock.Acquire(ctx, how)
}
