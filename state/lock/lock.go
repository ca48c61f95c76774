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
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/advice"
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

const (
	defaultEvery = 15 * time.Second
	defaultLost  = time.Minute
)

// Lock is a lock that this process holds. Its methods may be called from any goroutine.
type Lock struct {
	options Options
	key     string
	owner   Owner  // its Renewed is guarded by renewing
	ended   []Held // the locks of dead processes that were removed for this one

	renewing *await.Slots // one, taken while the lease is renewed; guards gone and again
	gone     error        // why the hold has to be taken again
	again    bool         // the hold has been taken again

	mu       sync.Mutex // guards the fields below
	hold     store.Hold // nil where the store has none; changes only while renewing is held, too
	renewed  moment
	lost     error
	released bool

	stop  context.CancelFunc
	renew conc.WaitGroup
}

// attempts is the number of attempts to take a lock when others try at the same moment.
const attempts = 8

// Acquire takes the lock, or returns a [*HeldError]. Locks of sluice processes that are certainly dead are removed first;
// before that, processes which such a holder has started on this machine and which still run are ended. It does not wait
// for a holder to end.
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

// write writes the lock file with a lease that starts now.
func (l *Lock) write(ctx context.Context, c store.Condition) error {
	now := momentOf(l.options.Machine)
	l.owner.Lease.Renewed = now.wall
	b, err := json.Marshal(l.owner)
	if err != nil {
		return err
	}
	if _, err := l.options.Store.Write(ctx, l.key, b, c); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = now
	return nil
}

// Path returns the lock file.
func (l *Lock) Path() string { return l.options.Store.Name(l.key) }

// Run identifies this holding of the lock. Journals are named by it.
func (l *Lock) Run() string { return l.owner.Lease.Run }

// Release releases the lock. It does nothing the second time, or after another process broke the lock.
func (l *Lock) Release() error {
	l.stop()
	l.renew.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	var err error
	for _, wait := range [...]time.Duration{0, 20 * time.Millisecond, 40 * time.Millisecond} {
		time.Sleep(wait)
		if err = l.options.Store.Remove(context.Background(), l.key); err == nil {
			break
		}
	}
	if l.hold != nil {
		err = errors.Join(err, l.hold.Close())
	}
	if err != nil {
		return advice.Errorf(advice.On(advice.CancelLock), "remove the lock file %s, which still has to be deleted: %w", l.Path(), err)
	}
	l.released = true
	return nil
}

// GiveBack is Release for a holder that could not clean up after the processes whose locks it has taken over: it writes their lock files again, so that
// others still find them.
func (l *Lock) GiveBack() error {
	if len(l.ended) == 0 {
		return l.Release()
	}
	err := l.options.restore(l.ended)
	released := l.Release()
	if err != nil { // there may be room only for one file
		err = l.options.restore(l.ended)
	}
	return errors.Join(err, released)
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

// Abandon stops renewing the lease and leaves the lock file where it is, until another process finds that its holder has
// ended. A Release afterwards still removes it.
func (l *Lock) Abandon() {
	l.stop()
	l.renew.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil {
		_ = l.hold.Close() // the server ends it in any case
	}
}

// begin renews the lease until Release.
func (l *Lock) begin() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.renew.Go(func() {
		for {
			_ = await.For(ctx, l.options.Every)
			if ctx.Err() != nil {
				return
			}
			if l.keep(context.Background()) != nil {
				return
			}
		}
	})
}

// Check returns a [*LostError] when it is no longer certain that this process holds the lock: another process has broken it,
// or it could not be renewed in time. Call it before starting anything that only the holder may do. It usually takes no time;
// after a pause of the whole machine it reads the store.
func (l *Lock) Check(ctx context.Context) error {
	l.mu.Lock()
	lost, renewed := l.lost, l.renewed
	l.mu.Unlock()
	if lost != nil || renewed.age(l.options.Machine) <= l.options.Lost {
		return lost
	}
	return l.keep(ctx)
}

// Confirm is Check for use after the user may have been waited for: it always looks for the lock file in the store. It does not look
// for locks of others, which give way as long as this one is there.
func (l *Lock) Confirm(ctx context.Context) error {
	if err := l.Check(ctx); err != nil {
		return err
	}
	if err := l.renewing.Acquire(ctx); err != nil {
		return err
	}
	defer l.renewing.Release()
	l.mu.Lock()
	lost := l.lost
	l.mu.Unlock()
	if lost != nil {
		return lost
	}
	_, err := l.present(ctx)
	var gone *LostError
	if errors.As(err, &gone) {
		l.lose(gone)
	}
	return err
}

// keep renews the lease, after any renewal under way. It returns an error when the lock is lost, or if ctx ends before.
func (l *Lock) keep(ctx context.Context) error {
	if err := l.renewing.Acquire(ctx); err != nil {
		return err
	}
	defer l.renewing.Release()
	l.mu.Lock()
	lost, renewed := l.lost, l.renewed
	l.mu.Unlock()
	if lost != nil {
		return lost
	}
	// A cancelled write may still arrive, after the file has been removed: it gets the rest of the time.
	left := max(l.options.Lost-renewed.age(l.options.Machine), l.options.Every)
	ctx, done := context.WithTimeout(context.Background(), left)
	defer done()
	err := l.renewOnce(ctx)
	var gone *LostError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &gone):
	case renewed.age(l.options.Machine) <= l.options.Lost:
		return nil // the store may answer again in time
	default:
		gone = &LostError{Path: l.Path(), Reason: fmt.Sprintf("it could not be renewed since %s: %v", renewed.wall.Format(time.RFC3339), err)}
	}
	l.lose(gone)
	return gone
}

func (l *Lock) lose(err *LostError) {
	l.mu.Lock()
	l.lost = err
	hold := l.hold
	l.mu.Unlock()
	if l.again { // a user who has ended the first one does not expect another one
		_ = hold.Close()
	}
	if l.options.OnLost != nil {
		l.options.OnLost(err)
	}
}

// present describes the lock file if it is unchanged. The error is a [*LostError], or explains why nothing is known.
func (l *Lock) present(ctx context.Context) (store.Info, error) {
	b, info, err := l.options.Store.Read(ctx, l.key)
	var present Owner
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = &LostError{Path: l.Path(), Reason: "somebody has removed the lock file"}
	case err == nil && (json.Unmarshal(b, &present) != nil || present.Lease.Run != l.owner.Lease.Run):
		err = &LostError{Path: l.Path(), Reason: "somebody else has written the lock file"}
	}
	return info, err
}

// renewOnce rewrites the lock file if it is unchanged, and looks for others. The error is a [*LostError], or explains
// why nothing is known.
func (l *Lock) renewOnce(ctx context.Context) error {
	info, err := l.present(ctx)
	if err != nil {
		return err
	}
	if err := l.keepHold(ctx); err != nil {
		return err
	}
	// The file may be newer than this process expects, if the reply to an earlier renewal has not arrived.
	if err := l.write(ctx, store.IfRevision(info.Revision)); errors.Is(err, store.ErrConflict) {
		return &LostError{Path: l.Path(), Reason: "somebody else has removed or written the lock file"}
	} else if err != nil {
		return err
	}
	return l.alone(ctx)
}

// keepHold takes the hold of the store again when its connection is closed, as after a restart of the server. No other process
// has done anything meanwhile: they respect the lock file, which has just been there, until its lease is over. By then this
// process treats the lock as lost, too.
func (l *Lock) keepHold(ctx context.Context) error {
	if l.hold == nil {
		return nil
	}
	if l.gone == nil {
		if l.gone = l.hold.Alive(ctx); l.gone == nil {
			return nil
		}
		_ = l.hold.Close() // otherwise a server that has not noticed the loss yet treats this process as another one
	}
	again, err := l.options.Store.(store.Excluder).Exclude(ctx, l.options.Folder, l.owner.session())
	if err != nil {
		return err
	}
	if again == nil {
		return fmt.Errorf("the connection that held it is gone, and another one holds it: %w", l.gone)
	}
	l.gone, l.again = nil, true
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold = again
	return nil
}

// alone looks for locks of others. Those that tried at the wrong moment are about to give way; it waits for that.
func (l *Lock) alone(ctx context.Context) error {
	var others []Held
	for look := range 3 {
		if look > 0 {
			_ = await.For(ctx, l.options.Every/15)
		}
		var err error
		if others, err = l.options.others(ctx, l.key); err != nil || len(others) == 0 {
			return err
		}
	}
	return &LostError{Path: l.Path(), Reason: fmt.Sprintf("there is another lock, %s", others[0].Path)}
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

// removeDead removes the locks of sluice processes that are certainly dead: those on this machine, and, if the store
// itself excludes others and this process has that hold, those that have lost it for longer than their lease. It adds them to ended.
func (o Options) removeDead(ctx context.Context, locks []Held, hold store.Hold, ended *[]Held) ([]Held, error) {
	var alive []Held
	for _, l := range locks {
		dead := !l.Unknown && l.Owner.Tool == o.Owner.Tool && l.Life == Dead
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
