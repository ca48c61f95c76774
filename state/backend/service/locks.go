package service

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/lock"
)

// locks are the locks of a stack: the running update at the service, and those of the working copy.
type locks struct{ subject subject }

// toolService is the tool in a lock that represents a running update at the service.
const toolService = "service"

// all returns the locks.
func (l locks) all(ctx context.Context) ([]lock.Held, error) {
	now, err := l.subject.describe(ctx)
	if err != nil {
		return nil, err
	}
	var all []lock.Held
	if now.Current != nil {
		place := fmt.Sprintf("%s, update %s", l.subject.File(ctx), now.ActiveUpdate)
		all = append(all, lock.Held{Path: place, URL: place, Owner: lock.Owner{
			Username: now.Current.Author, Hostname: l.subject.backend.host(), Timestamp: time.Unix(now.Current.Started, 0), Tool: toolService,
			Lease: lock.Lease{Operation: now.Current.Kind},
		}})
	}
	own, err := l.own(ctx)
	return append(all, own...), err
}

// own returns the locks of the working copy.
func (l locks) own(ctx context.Context) ([]lock.Held, error) {
	c, err := l.subject.backend.copyOf(ctx, l.subject.ref)
	if err != nil {
		return nil, err
	}
	there, err := c.copies.dir.Stat(ctx, c.keys.File())
	if err != nil || len(there) == 0 {
		return nil, err
	}
	w, err := c.copies.files.Open(ctx, c.ref())
	if err != nil {
		return nil, err
	}
	return w.Locks(ctx)
}

// breakAll removes locks, and returns how many were there. A running update is cancelled.
func (l locks) breakAll(ctx context.Context, all []lock.Held) (int, error) {
	var own []lock.Held
	n := 0
	for _, held := range all {
		if held.Owner.Tool != toolService {
			own = append(own, held)
			continue
		}
		now, err := l.subject.describe(ctx)
		if err != nil {
			return n, err
		}
		if now.Current == nil || now.Current.Started != held.Owner.Timestamp.Unix() {
			continue // it has ended, and another one may have begun
		}
		if err := l.subject.backend.client.Cancel(ctx, api.UpdateID{Stack: l.subject.id(), ID: now.ActiveUpdate}); err != nil {
			return n, err
		}
		n++
	}
	if len(own) == 0 {
		return n, nil
	}
	c, err := l.subject.backend.copyOf(ctx, l.subject.ref)
	if err != nil {
		return n, err
	}
	w, err := c.copies.files.Open(ctx, c.ref())
	if err != nil {
		return n, err
	}
	broken, err := w.BreakLocks(ctx, own)
	return n + broken, err
}
