package lock

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/store"
)

// Store is the part of a [store.Store] that locks need. If it is a [store.Excluder] too, the server reports whether a
// holder is alive.
type Store interface {
	Name(key string) string
	Read(ctx context.Context, key string) ([]byte, store.Info, error)
	List(ctx context.Context, prefix string) ([]store.Info, error)
	Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error)
	Remove(ctx context.Context, keys ...string) error
}

// Options define how a lock is taken.
type Options struct {
	Store Store
	// Folder is the key of the folder that holds the lock files of one stack.
	Folder string
	// Files are the prefixes of the keys that only the holder writes. When the lock is taken, unfinished writes of them that
	// killed processes have left are removed.
	Files []string
	// Machine is the machine of the process; nil means this one.
	Machine Machine
	// Owner describes the process; the zero Owner means the Machine's.
	Owner Owner
	// Operation is a word for the purpose of the lock; it may be "".
	Operation string
	// Every is how often the lease is renewed, and Lost how long after the last renewal the holder treats the lock as lost.
	// Zero means 15 seconds and a minute.
	Every, Lost time.Duration
	// OnLost is called, once and by another goroutine, when the lock is lost. It may be nil.
	OnLost func(error)
	// Note receives messages for people: which processes of a dead holder were ended. It may be nil.
	Note func(string)
}

// attempts is the number of attempts to take a lock when others try at the same moment.
const attempts = 8

// Acquire takes the lock, or returns a [*HeldError]. Locks of sluice processes that are certainly dead are removed first, and so are
// those that their holders have given up ([Lock.GiveUp]). Before that, processes which a dead holder has started on this machine and
// which still run are ended. It does not wait for a holder to end.
func Acquire(ctx context.Context, o Options) (*Lock, error) {
	o = o.complete()
	hold, err := o.exclude(ctx)
	if err != nil {
		return nil, err
	}
	l, err := o.acquire(ctx, hold)
	if err != nil && hold != nil {
		err = errors.Join(err, hold.Close())
	}
	if err == nil {
		o.tidy()
	}
	return l, err
}

// tidy removes unfinished writes that killed processes have left.
func (o Options) tidy() {
	t, ok := o.Store.(store.Tidier)
	if !ok {
		return
	}
	if err := t.Tidy(o.Files...); err != nil && o.Note != nil {
		o.Note(fmt.Sprintf("files that killed processes have left could not be removed: %v", err))
	}
}

// complete returns the options with their defaults.
func (o Options) complete() Options {
	if o.Machine == nil {
		o.Machine = thisMachine{}
	}
	if o.Owner == (Owner{}) {
		o.Owner = o.Machine.Self()
	}
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	if o.Lost == 0 {
		o.Lost = defaultLost
	}
	return o
}

// exclude takes the hold of the store, if it has one, which excludes other processes.
func (o Options) exclude(ctx context.Context) (store.Hold, error) {
	e, ok := o.Store.(store.Excluder)
	if !ok {
		return nil, nil
	}
	for attempt := 1; ; attempt++ {
		hold, err := e.Exclude(ctx, o.Folder, o.Owner.session())
		if err != nil {
			return nil, fmt.Errorf("take the lock: %w", err)
		}
		if hold != nil {
			return hold, nil
		}
		others, err := List(ctx, o)
		if err != nil || len(others) > 0 || attempt == attempts {
			return nil, errors.Join(err, &HeldError{others})
		}
		// The previous holder has released it meanwhile.
	}
}

func (o Options) acquire(ctx context.Context, hold store.Hold) (*Lock, error) {
	var ended []Held
	for attempt := 1; ; attempt++ {
		l, collided, err := o.try(ctx, hold, &ended)
		if err == nil {
			l.ended = ended
			l.begin()
			return l, nil
		}
		if !collided || attempt == attempts {
			if !errors.As(err, new(*HeldError)) {
				err = errors.Join(err, o.restore(ended))
			}
			return nil, err
		}
		// All processes that tried have given way. Not all should come back at once.
		_ = await.For(ctx, pause(attempt))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// pause is a random time, whose average grows with the number of attempts.
func pause(attempt int) time.Duration {
	id := uuid.New()
	return time.Duration(binary.BigEndian.Uint32(id[:])%(20<<attempt)) * time.Millisecond
}

// try writes a lock file if there is none, and gives way if others appear.
// It adds the locks of dead processes that it removes to ended.
func (o Options) try(ctx context.Context, hold store.Hold, ended *[]Held) (l *Lock, collided bool, err error) {
	id := uuid.NewString()
	// Pulumi shows the name when it finds the lock of a process that was killed.
	mine := o.Folder + "/sluice-" + id + "-run-sluice-recover.json"
	others, err := o.others(ctx, mine)
	if err == nil {
		others, err = o.removeDead(ctx, others, hold, ended)
	}
	if err != nil {
		return nil, false, err
	}
	if len(others) > 0 {
		return nil, false, &HeldError{others}
	}
	l = &Lock{options: o, key: mine, owner: o.Owner, hold: hold, renewing: await.NewSlots(1)}
	l.owner.Lease = Lease{Run: id, Operation: o.Operation, Seconds: int(o.Lost / time.Second)}
	if err := l.write(ctx, store.IfAbsent()); err != nil {
		_ = o.Store.Remove(context.WithoutCancel(ctx), mine) // it is there if only the reply was lost
		return nil, false, fmt.Errorf("write the lock file: %w", err)
	}
	if others, err = o.others(ctx, mine); err == nil && len(others) > 0 {
		err, collided = &HeldError{others}, true
	}
	if err == nil && hold != nil {
		if err = hold.Alive(ctx); err != nil { // a user may have ended it before there was a lock file to remove
			err = fmt.Errorf("the lock was lost before anything began: %w", err)
		}
	}
	if err != nil {
		return nil, collided, errors.Join(err, o.Store.Remove(context.WithoutCancel(ctx), mine))
	}
	return l, false, nil
}

// restore writes the missing lock files of dead processes that were removed.
func (o Options) restore(ended []Held) error {
	ctx := context.Background()
	for _, h := range ended {
		b, err := json.Marshal(h.Owner)
		if err == nil {
			_, err = o.Store.Write(ctx, h.info.Key, b, store.IfAbsent())
		}
		if err != nil && !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("write the lock file %s again, whose holder has ended: %w", h.Path, err)
		}
	}
	return nil
}

// List returns the locks in a folder in the order of their names, and after them the session of a process that has the lock
// and has not written its lock file.
func List(ctx context.Context, o Options) ([]Held, error) {
	o = o.complete()
	held, err := o.others(ctx, "")
	if err != nil {
		return nil, err
	}
	e, ok := o.Store.(store.Excluder)
	if !ok {
		return held, nil
	}
	session, err := e.Holding(ctx, o.Folder)
	if err != nil {
		return nil, fmt.Errorf("look for locks: %w", err)
	}
	if session == nil {
		return held, nil
	}
	for i, l := range held {
		if !l.Unknown && l.Owner.Tool == Tool && l.Owner.session() == session.Holder {
			held[i].Session = session
			return held, nil
		}
	}
	name := o.Store.Name(o.Folder)
	h := Held{Path: name, URL: name, Session: session, folder: o.Folder}
	owner, known := ofSession(*session)
	h.Owner, h.Unknown = owner, !known
	return append(held, h), nil
}

// Remove removes the files of listed locks, whoever holds them, ends the sessions that hold them, and returns the number of
// locks ([state.md 7.11]). Before that, processes which a dead holder has started on this machine and which still run are ended.
//
// [state.md 7.11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#711-cancel
func Remove(ctx context.Context, o Options, locks []Held) (int, error) {
	o = o.complete()
	for i, l := range locks {
		if err := o.endOrphans(ctx, l); err != nil {
			return i, err
		}
		if err := endSession(ctx, o.Store, l); err != nil {
			return i, err
		}
		if l.info.Key == "" {
			continue
		}
		if err := o.Store.Remove(ctx, l.info.Key); err != nil {
			return i, fmt.Errorf("remove a lock file: %w", err)
		}
		// While there was a file, the holder may have connected again. Without one it does not.
		if err := endSession(ctx, o.Store, l); err != nil {
			return i, err
		}
	}
	return len(locks), nil
}

// endSession ends the session of a lock's holder, if it still holds the lock.
func endSession(ctx context.Context, s Store, l Held) error {
	e, ok := s.(store.Excluder)
	if !ok || l.Session == nil {
		return nil
	}
	now, err := e.Holding(ctx, l.folder)
	if err == nil && now != nil && now.Holder == l.Session.Holder {
		err = e.End(ctx, l.folder, *now)
	}
	if err != nil {
		return fmt.Errorf("end the session that holds the lock: %w", err)
	}
	return nil
}

func (o Options) others(ctx context.Context, mine string) ([]Held, error) {
	infos, err := o.Store.List(ctx, o.Folder+"/")
	if err != nil {
		return nil, fmt.Errorf("look for locks: %w", err)
	}
	var held []Held
	for _, info := range infos {
		if info.Key == mine || path.Dir(info.Key) != o.Folder {
			continue
		}
		h := Held{Path: o.Store.Name(info.Key), info: info, folder: o.Folder}
		if h.URL = h.Path; !strings.Contains(h.URL, "://") {
			h.URL = "file://" + strings.ReplaceAll(h.URL, `\`, "/")
		}
		b, _, err := o.Store.Read(ctx, info.Key)
		if errors.Is(err, fs.ErrNotExist) {
			continue // released meanwhile
		}
		h.Unknown = err != nil || json.Unmarshal(b, &h.Owner) != nil
		if !h.Unknown {
			h.Life, h.Renewed = o.Machine.Life(h.Owner), h.Owner.Lease.coversMoment(o.Machine.Now())
		}
		held = append(held, h)
	}
	return held, nil
}

// removeDead removes the locks that sluice processes have given up, and those of sluice processes that are certainly dead: those on this
// machine, and, if the store itself excludes others and this process has that hold, those that have lost it for longer than their lease.
// It adds them to ended.
func (o Options) removeDead(ctx context.Context, locks []Held, hold store.Hold, ended *[]Held) ([]Held, error) {
	var alive []Held
	for _, l := range locks {
		dead := !l.Unknown && l.Owner.Tool == o.Owner.Tool && l.HasEnded()
		if !dead && !l.Unknown && l.Owner.Tool == Tool && l.Life != Alive && hold != nil {
			var err error
			if dead, err = o.isOver(ctx, l); err != nil {
				return nil, err
			}
		}
		if !dead {
			alive = append(alive, l)
			continue
		}
		if err := o.endOrphans(ctx, l); err != nil {
			return nil, err
		}
		if err := o.Store.Remove(ctx, l.info.Key); err != nil {
			return nil, fmt.Errorf("remove the lock file of a process that has died: %w", err)
		}
		*ended = append(*ended, l)
	}
	return alive, nil
}

// isOver reports whether a lease is certainly over. That is so if it is over by the clock of the store, which measures the
// renewals of all holders, and the clocks of the two machines do not contradict it: a store that has moved to another server
// has another clock.
func (o Options) isOver(ctx context.Context, l Held) (bool, error) {
	now, err := o.Store.(store.Excluder).Now(ctx)
	if err != nil {
		return false, err
	}
	lease := l.Owner.Lease
	whole := time.Duration(lease.Seconds) * time.Second
	return whole > 0 && now.Sub(l.info.Modified) > whole && o.Machine.Now().Sub(lease.Renewed) > whole, nil
}

// endOrphans ends the processes that a dead holder has started on this machine and that still run.
func (o Options) endOrphans(ctx context.Context, l Held) error {
	if l.Life != Dead {
		return nil
	}
	ended, err := o.Machine.EndOrphans(ctx, l.Owner)
	if err == nil && ended != "" && o.Note != nil {
		o.Note(fmt.Sprintf("the process that had the lock of the stack (pid %d) died and left others that went on working; they were ended: %s",
			l.Owner.PID, ended))
	}
	return err
}
