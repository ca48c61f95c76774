package modelcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/urn"
)

// world is the shared state of processes, and its history.
type world struct {
	setting
	disk *disk

	renewed       map[string]time.Time // when lock files were written
	holder        *process             // the process whose session has the lock of the server; nil if there is none
	holderSession int
	holderName    string // the name that it has given

	objects   []object
	acked     []object        // whose records an engine has received an acknowledgement for
	absent    map[string]bool // names for which an interrupted create was decided to have made nothing
	forced    bool            // a lock of a running process has been removed
	disturbed bool            // by anything except kills
	faults    []string
}

// setting describes the environment of the processes.
type setting struct {
	onServer    bool // in a database; otherwise in an object store
	conditional bool // the object store supports conditional writes
	elsewhere   bool // each process is on a machine of its own
	pauses      []time.Duration
	serverSkew  time.Duration
	jump        time.Duration // of the server's clock, in a failover of the database
	creates     []string      // names of the resources that each engine creates
	exist       []string      // names of the initial resources, with the value 0
	unlockEarly bool          // a flaw: the lock is removed before the state is written
}

// object is an object of a provider.
type object struct {
	name, id string
	by       *process
	value    int
	gone     bool // it has been deleted
}

var stackRef = backend.Ref{Project: "p", Name: "dev"}

func urnOf(name string) urn.URN { return urn.New("dev", "p", "", "a:b:C", name) }

// describe adds the shared state, except the disk's clock.
func (w *world) describe(d *digest) {
	w.disk.describe(d)
	d.number(uint64(w.holderSession))
	d.number(uint64(w.serverSkew))
	d.flag(w.forced)
	for _, name := range slices.Sorted(maps.Keys(w.absent)) {
		d.text(name)
	}
	d.flag(w.holder != nil)
	if w.holder != nil {
		d.text(w.holder.name)
	}
	for _, o := range w.objects {
		d.text(o.name)
		d.text(o.id)
		d.text(o.by.name)
		d.number(uint64(o.value))
		d.flag(o.gone)
	}
}

// make is the effect of a provider's create.
func (p *process) make(name string) string {
	id := fmt.Sprintf("%s-%d", name, len(p.objects))
	p.objects = append(p.objects, object{name: name, id: id, by: p})
	return id
}

// made returns the ID of an existing object without a record, "" if there is none.
func (w *world) made(name string) string {
	for _, o := range w.objects {
		if o.name == name {
			return o.id
		}
	}
	return ""
}

// died ends the sessions of a process.
func (w *world) died(p *process) {
	if w.holder == p {
		w.holder = nil
	}
}

// machine is the machine of a process.
type machine struct{ *process }

var _ lock.Machine = machine{}

func (m machine) host() string {
	if m.elsewhere {
		return m.name
	}
	return "host"
}

func (m machine) Now() time.Time { return m.clock().Add(m.skew) }

func (m machine) Self() lock.Owner {
	return lock.Owner{PID: m.number, Hostname: m.host(), Tool: lock.Tool}
}

func (m machine) Life(o lock.Owner) (life lock.Life) {
	_ = m.do(context.Background(), fmt.Sprintf("signal 0 to process %d", o.PID), look, func() string {
		p := m.processes[o.PID-1]
		switch {
		case o.Hostname != m.host():
		case p.dead || p.over:
			life = lock.Dead
		default:
			life = lock.Alive
		}
		return fmt.Sprint(life)
	})
	return life
}

// removed records that a key is removed. A lock of another running process can be removed only by force, or after its lease has
// ended.
func (p *process) removed(key string) {
	var o lock.Owner
	if !strings.HasPrefix(key, ".pulumi/locks/") || json.Unmarshal(p.disk.contents[key].bytes, &o) != nil || o.PID == p.number {
		return
	}
	holder := p.processes[o.PID-1]
	if holder.dead || holder.over {
		if p.elsewhere {
			p.endPlugins(holder) // its guard has done so by now
		}
		return
	}
	p.forced, p.disturbed = true, true
	if age := p.clock().Sub(p.renewed[key]); !p.forces && age <= time.Minute {
		p.fail("%s has taken the lock of %s %s after it was renewed", p.name, holder.name, age)
	}
}

func (m machine) EndOrphans(ctx context.Context, o lock.Owner) (string, error) {
	return "", m.do(ctx, fmt.Sprintf("end what process %d has started", o.PID), change, func() string {
		m.endPlugins(m.processes[o.PID-1])
		return ""
	})
}

// endPlugins ends the plugins of a process that has died.
func (s *schedule) endPlugins(p *process) {
	s.late = slices.DeleteFunc(slices.Clone(s.late), func(c *call) bool { return c.by == p && c.kind == operate })
}

func (p *process) backend(ctx context.Context) (backend.Backend, error) {
	return backend.Open(ctx, backend.Options{
		URL: "test://", Project: "p", Version: "sluice/test", Now: machine{p}.Now, Machine: machine{p},
		Stores: map[string]store.Opener{"test": func(context.Context, string, func(string) (string, bool)) (store.Store, error) {
			if p.onServer {
				return server{p}, nil
			}
			return bucket{p, p.conditional}.objectStore(), nil
		}},
	})
}

func (p *process) open(ctx context.Context) (backend.Stack, error) {
	b, err := p.backend(ctx)
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, stackRef)
}

// work is what an engine does after it has begun to record on a base.
type work func(p *process, ctx context.Context, r state.Recorder, base *state.Snapshot) error

// update is an engine that creates the missing objects, in the order of an operation.
func update(p *process) { p.operate((*process).createMissing) }

// operate runs an engine.
func (p *process) operate(do work) {
	ctx := context.Background()
	err := func() (err error) {
		stack, err := p.open(ctx)
		if err != nil {
			return err
		}
		l, err := stack.Lock(ctx, backend.LockOptions{Operation: "update"})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		return p.record(ctx, sluice.NewFence(stack), do)
	}()
	p.finish(err)
}

func (p *process) record(ctx context.Context, fence *sluice.Fence, do work) error {
	base, err := fence.Load(ctx)
	if err != nil {
		return err
	}
	r, err := fence.Record(ctx, base)
	if err != nil {
		return err
	}
	err = do(p, ctx, r, base)
	if p.unlockEarly {
		for _, key := range p.disk.list(".pulumi/locks/") {
			delete(p.disk.contents, key)
		}
	}
	return errors.Join(err, r.Close(ctx))
}

// createMissing creates the objects that are not recorded.
func (p *process) createMissing(ctx context.Context, r state.Recorder, base *state.Snapshot) (err error) {
	there := map[string]bool{}
	for _, res := range base.Resources {
		there[res.URN.Name()] = true
	}
	for _, op := range base.Pending {
		if err == nil {
			there[op.Resource.URN.Name()], err = p.resolve(ctx, r, op)
		}
	}
	for _, name := range p.creates {
		if err == nil && !there[name] {
			err = p.create(ctx, r, name)
		}
	}
	return err
}

// resolve records the result of an interrupted create, like a person who checks it, and reports whether it made something.
func (p *process) resolve(ctx context.Context, r state.Recorder, op state.Pending) (made bool, err error) {
	name, id := op.Resource.URN.Name(), ""
	if err := p.do(ctx, "look for "+name, look, func() string {
		if id = p.made(name); id == "" {
			p.absent[name] = true
		}
		return id
	}); err != nil {
		return false, err
	}
	c := state.Change{Begun: op.Resource}
	if id != "" {
		made := *op.Resource
		made.ID = id
		c.Add = &made
	}
	return id != "", p.end(ctx, r, c, name)
}

func (p *process) create(ctx context.Context, r state.Recorder, name string) error {
	res := &state.Resource{URN: urnOf(name), Type: "a:b:C", Custom: true}
	if err := r.Begin(ctx, state.Pending{Type: state.Creating, Resource: res}); err != nil {
		return err
	}
	made := *res
	if err := p.do(ctx, "create "+name, operate, func() string { made.ID = p.make(name); return made.ID }); err != nil {
		return err
	}
	return p.end(ctx, r, state.Change{Begun: res, Add: &made}, name)
}

func (p *process) end(ctx context.Context, r state.Recorder, c state.Change, name string) error {
	err := r.End(ctx, c)
	if err == nil && c.Add != nil {
		p.acked = append(p.acked, object{name: name, id: c.Add.ID, by: p})
	}
	return err
}

// cancel is a person who removes the locks of the stack. Without force, the person leaves those of running processes, and first
// makes sure that the machine of a dead process has ended its plugins.
func cancel(force bool) func(*process) {
	return func(p *process) {
		ctx := context.Background()
		p.forces = force
		stack, err := p.open(ctx)
		if err == nil {
			err = p.breakLocks(ctx, stack, force)
		}
		p.finish(err)
	}
}

func (p *process) breakLocks(ctx context.Context, stack backend.Stack, force bool) error {
	held, err := stack.Locks(ctx)
	if err != nil {
		return err
	}
	for _, l := range held {
		err := p.do(ctx, fmt.Sprintf("look at process %d", l.Owner.PID), look, func() string {
			holder := p.processes[l.Owner.PID-1]
			if holder.dead || holder.over {
				p.endPlugins(holder)
				return "dead"
			}
			if !force {
				err = &lock.HeldError{Locks: held}
			}
			return "alive"
		})
		if err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	_, err = stack.BreakLocks(ctx, held)
	return err
}

// inspect is the last process: it takes the lock in the documented way and reads the state.
func inspect(found **state.Snapshot) func(*process) {
	return func(p *process) {
		ctx := context.Background()
		p.finish(func() error {
			stack, err := p.open(ctx)
			if err != nil {
				return err
			}
			l, err := stack.Lock(ctx, backend.LockOptions{})
			var held *lock.HeldError
			if errors.As(err, &held) {
				if err := p.breakLocks(ctx, stack, false); err != nil {
					return err
				}
				l, err = stack.Lock(ctx, backend.LockOptions{})
			}
			var undecided *backend.JournalError
			if p.disturbed && errors.As(err, &undecided) {
				if _, err := stack.DiscardJournal(ctx); err != nil {
					return err
				}
				l, err = stack.Lock(ctx, backend.LockOptions{})
			}
			if err != nil {
				return err
			}
			if *found, err = stack.Load(ctx); err != nil {
				return err
			}
			return l.Close()
		}())
	}
}
