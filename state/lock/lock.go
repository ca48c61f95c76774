package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/store"
)

const (
	defaultEvery = 15 * time.Second
	defaultLost  = time.Minute
)

// Lock is a lock that this process holds. Its methods may be called from any goroutine.
type Lock struct {
	options Options
	key     string
	owner   Owner  // its Renewed is guarded by renewing
	ended   []Held // the locks of ended holders that were removed for this one

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

// Ended returns the locks of dead processes that were removed when this one was taken.
func (l *Lock) Ended() []Held { return l.ended }

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

// GiveUp is Abandon for a holder that has ended and has left something that the next holder of the lock must complete. It marks the lock
// file. [Acquire] then takes the lock over, in any process, this one included; other tools still respect the file. After an error the
// lock is held until this process ends or another GiveUp succeeds. A Release afterwards still removes the lock file.
func (l *Lock) GiveUp() error {
	l.stop()
	l.renew.Wait()
	ctx := context.Background()
	_ = l.renewing.Acquire(ctx) // which fails only if ctx ends
	defer l.renewing.Release()
	l.owner.Lease.GivenUp = true
	err := l.mark(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil {
		_ = l.hold.Close() // the server ends it in any case
	}
	if l.lost == nil {
		l.lost = &LostError{Path: l.Path(), Reason: "this process has given it up"}
	}
	if err != nil {
		return fmt.Errorf("mark the lock file %s, so that the next operation takes the lock over: %w", l.Path(), err)
	}
	return nil
}

// mark writes the lock file as it is now described. It does nothing if somebody else has taken the lock meanwhile.
func (l *Lock) mark(ctx context.Context) error {
	info, err := l.present(ctx)
	if err == nil {
		err = l.write(ctx, store.IfRevision(info.Revision))
	}
	if errors.As(err, new(*LostError)) {
		return nil
	}
	return err
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

// IsGone reports whether the lock file is certainly not there any more, or certainly that of somebody else.
func (l *Lock) IsGone(ctx context.Context) bool {
	if err := l.renewing.Acquire(ctx); err != nil {
		return false
	}
	defer l.renewing.Release()
	_, err := l.present(ctx)
	return errors.As(err, new(*LostError))
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
