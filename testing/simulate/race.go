package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/state/lock"
)

// race is a running race.
type race struct {
	history *history
	number  int
	op      Operation
	stack   *depot
	locks   *locks

	mu     sync.Mutex // guards the rest
	holder string     // of the stack's lock, "" for none
	dead   map[string]bool
	world  *world
	text   string // the state after the last engine, which the next one must find
}

func (r *race) fault(name, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.fault("%s %d by %s: %s", r.op.Do, r.number, name, fmt.Sprintf(format, args...))
}

// engine is the life of one process: it waits for the lock, recovers the state that the process before has left, runs the
// operation and releases the lock, unless it dies.
func (r *race) engine(name string, e Engine, server bool) {
	ctx := r.history.ctx
	l := r.acquire(ctx, name, server)
	if l == nil {
		return
	}
	r.mu.Lock()
	if r.holder != "" && !r.dead[r.holder] {
		r.history.fault("%s %d: %s has the lock that %s has", r.op.Do, r.number, name, r.holder)
	}
	r.holder = name
	r.world.land()
	world, expected := r.world, r.text
	r.mu.Unlock()

	found := r.open(ctx, name)
	if found != expected {
		one, two := difference(expected, found)
		r.fault(name, "it does not begin with what was recorded:\n%s\nbut with\n%s", one, two)
	}
	world = world.clone()
	world.snapshot, _ = decode(ctx, found)
	a := r.attempt(ctx, world, e, l)

	r.mu.Lock()
	if r.holder != name {
		r.history.fault("%s %d: %s has taken the lock that %s has", r.op.Do, r.number, r.holder, name)
	}
	r.world, r.text = a.after, a.text
	died := a.journal.crashed()
	if died {
		r.dead[name] = true
	} else {
		r.holder = ""
	}
	r.mu.Unlock()
	if died {
		l.Abandon()
	} else if err := l.Release(); err != nil {
		r.fault(name, "the lock is not released: %v", err)
	}
}

// acquire waits until the engine has the lock. If the store does not detect dead processes, a person removes their locks.
func (r *race) acquire(ctx context.Context, name string, server bool) *lock.Lock {
	var store lock.Store = r.locks
	if server {
		store = exclusive{r.locks}
	}
	o := lock.Options{
		Store: store, Folder: "locks", Operation: string(r.op.Do), Owner: lock.Owner{PID: 1, Hostname: name, Tool: lock.Tool, Timestamp: now()},
		OnLost: func(err error) { r.fault(name, "nobody has broken the lock, and it is lost: %v", err) },
	}
	began := time.Now()
	for {
		l, err := lock.Acquire(ctx, o)
		if err == nil {
			return l
		}
		var held *lock.HeldError
		if !errors.As(err, &held) || time.Since(began) > time.Hour {
			r.fault(name, "it does not get the lock: %v", err)
			return nil
		}
		if !server {
			r.removeDead(ctx, name, held.Locks)
		}
		time.Sleep(time.Second)
	}
}

// removeDead removes the locks of dead engines, as a person does who has checked that they are dead.
func (r *race) removeDead(ctx context.Context, name string, held []lock.Held) {
	for _, h := range held {
		r.mu.Lock()
		dead := r.dead[h.Owner.Hostname]
		r.mu.Unlock()
		if !dead {
			continue
		}
		if _, err := lock.Remove(ctx, lock.Options{Store: r.locks, Folder: "locks"}, []lock.Held{h}); err != nil {
			r.fault(name, "the lock of a dead engine cannot be removed: %v", err)
		}
	}
}

// open brings the state up to date and returns its text. The lock is held.
func (r *race) open(ctx context.Context, name string) string {
	if err := r.stack.recover(ctx); err != nil {
		r.fault(name, "the state cannot be recovered: %v", err)
	}
	return string(r.stack.copy().file)
}

// attempt runs the operation. The lock is held.
func (r *race) attempt(ctx context.Context, w *world, e Engine, l *lock.Lock) *attempt {
	op := r.op
	op.Crash, op.Late = e.Crash, e.Late
	s := r.history.Schedules[0]
	a := prepare(w, op, s, r.number, false, nil)
	a.journal.depot, a.guard = r.stack, l.Check
	a.run(ctx, s)
	a.text, _ = encode(ctx, a.after.snapshot)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Attempts++
	for _, f := range verify(ctx, a) {
		r.history.fault("%s %d in a race: %s", op.Do, r.number, f)
	}
	return a
}
