package modelcheck

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// kind is the possible effect of a call on other processes.
type kind uint8

const (
	quiet   kind = iota // neither depends on others nor affects them: the order does not matter
	look                // depends on others
	change              // affects others; a process that dies in it may have done it or not
	operate             // a request to a plugin, which goes on when the process dies
)

// call is a call that a process waits for. The scheduler carries it out, or does not.
type call struct {
	by     *process
	what   string
	kind   kind
	effect func() string // returns the result for the process
	answer chan answer
}

type answer uint8

const (
	done answer = iota
	lost        // carried out, and the reply was lost
	die
)

// errLost is the error of a request whose reply was lost.
var errLost = errors.New("the connection was reset")

// process is a process that uses the stack.
type process struct {
	*schedule
	number  int
	name    string
	run     func(*process)
	skew    time.Duration // of its clock
	mortal  bool
	dead    bool
	over    bool
	result  error
	seen    uint64 // a hash of all results so far, with their times: the code is deterministic, so this identifies its position
	random  uint64
	session int  // number of its present connection to a server
	forces  bool // it removes locks of running processes
}

// do waits until the scheduler has carried out a call. It does not return in a killed process.
func (p *process) do(ctx context.Context, what string, k kind, effect func() string) error {
	if k == quiet {
		return p.doAtOnce(effect)
	}
	c := &call{by: p, what: what, kind: k, effect: effect, answer: make(chan answer, 1)}
	if !p.park(c) {
		runtime.Goexit()
	}
	select {
	case a := <-c.answer:
		switch a {
		case die:
			runtime.Goexit()
		case lost:
			return errLost
		}
		return nil
	case <-ctx.Done():
		p.giveUp(c)
		return ctx.Err()
	}
}

// doAtOnce carries out a call that does not affect others.
func (p *process) doAtOnce(effect func() string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		runtime.Goexit()
	}
	effect()
	return nil
}

func (p *process) park(c *call) (alive bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead {
		p.parked = append(p.parked, c)
	}
	return !p.dead
}

// giveUp ends the wait for a call whose time is over. The call may still take effect.
func (p *process) giveUp(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked = slices.DeleteFunc(p.parked, func(other *call) bool { return other == c })
	p.note(c, "given up")
	if c.kind == change {
		p.late = append(p.late, c)
	}
}

// note adds a result to the hash of a process.
func (p *process) note(c *call, reply string) {
	d := digest{}
	d.number(p.seen)
	d.text(c.what)
	d.text(reply)
	d.number(uint64(p.clock().UnixMilli()))
	p.seen = d.sum()
}

// budget limits the disturbances of a schedule.
type budget struct {
	crashes     int // processes are killed
	late        int // of those, during a request that takes effect later
	preemptions int // a process that could go on has to wait
	pauses      int // all processes stop for some time
	replies     int // the reply to a request is lost
}

// within reports whether another budget allows all that b does.
func (b budget) within(other budget) bool {
	return b.crashes <= other.crashes && b.late <= other.late && b.preemptions <= other.preemptions && b.pauses <= other.pauses && b.replies <= other.replies
}

// unlimited is a budget of preemptions that is never used up.
const unlimited = 1000

// schedule is one interleaving of processes: it controls every step of all of them.
type schedule struct {
	t    *testing.T
	left budget
	choose
	*world
	processes []*process

	mu      sync.Mutex // guards the rest; other fields are the scheduler's
	parked  []*call
	late    []*call // may be carried out at any time; nothing waits for them
	current *process
	trace   []event
}

// choose decides how a schedule continues: it returns one of n ways, or false if the state is known.
type choose func(s *schedule, ways int) (way int, on bool)

// event is something that happens: to the call of a process, or to all of them if call is nil.
type event struct {
	what string
	call *call
}

func (e event) String() string {
	if e.call == nil {
		return e.what
	}
	return e.call.by.name + e.what + ": " + e.call.what
}

// option is one way to continue.
type option struct {
	event
	take func()
	cost budget
}

// steps is more than any schedule takes.
const steps = 5000

// clock returns the time, without the fractions of a millisecond that identify processes.
func (s *schedule) clock() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// digest collects what is hashed.
type digest struct{ bytes []byte }

func (d *digest) text(s string) { d.bytes = append(append(d.bytes, s...), 0) }

func (d *digest) number(n uint64) { d.bytes = binary.LittleEndian.AppendUint64(d.bytes, n) }

func (d *digest) flag(is bool) {
	d.bytes = append(d.bytes, 0)
	if is {
		d.bytes[len(d.bytes)-1] = 1
	}
}

func (d *digest) sum() uint64 {
	sum := sha256.Sum256(d.bytes)
	return binary.LittleEndian.Uint64(sum[:])
}

// slots is the maximal number of processes. Process n runs only at times whose remainder in nanoseconds is n: all timers are
// longer, so the time identifies the process of a timer.
const slots = 8

// add adds a process, which begins when the scheduler lets it.
func (s *schedule) add(name string, mortal bool, run func(*process)) *process {
	p := &process{schedule: s, number: len(s.processes) + 1, name: name, mortal: mortal, run: run}
	s.processes = append(s.processes, p)
	begun := make(chan struct{})
	go func() {
		defer p.leave()
		growStack()
		close(begun)
		_ = p.do(context.Background(), "begin", look, func() string { return "" })
		p.run(p)
	}()
	<-begun
	return p
}

// growStack makes the stack of a new goroutine as large as those of processes are in the end. Otherwise it would be copied each time when it is doubled.
//
//go:noinline
func growStack() byte {
	var large [24 << 10]byte
	return large[len(os.Args)]
}

// leave records that a process has ended.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// finish records how a process has ended.
func (p *process) finish(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result = err
}

// explore runs the processes to their end, in the order that choose gives. It returns false if that leads to a known state.
func (s *schedule) explore() bool {
	for range steps {
		synctest.Wait()
		if s.isOver() {
			return true
		}
		options := s.options()
		if len(options) == 0 {
			if !s.sleepUntilSomethingHappens() {
				s.fail("nobody can go on")
				return true
			}
			continue
		}
		way := 0
		if len(options) > 1 {
			on := false
			if way, on = s.choose(s, len(options)); !on {
				return false
			}
		}
		s.take(options[way])
	}
	s.fail("it does not end")
	return true
}

func (s *schedule) take(o option) {
	s.left.crashes -= o.cost.crashes
	s.left.late -= o.cost.late
	if s.left.preemptions < unlimited {
		s.left.preemptions -= o.cost.preemptions
	}
	s.left.pauses -= o.cost.pauses
	s.left.replies -= o.cost.replies
	s.disturbed = s.disturbed || o.cost.late+o.cost.pauses+o.cost.replies > 0
	s.trace = append(s.trace, o.event)
	o.take()
}

// waiting returns the waiting calls in a deterministic order.
func (s *schedule) waiting() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.parked, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.by.number, b.by.number), cmp.Compare(a.what, b.what))
	})
	return slices.Clone(s.parked)
}

func (s *schedule) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(s.processes, func(p *process) bool { return !p.over && !p.dead })
}

// carryOut carries out a call at a time of its process.
func (s *schedule) carryOut(c *call, a answer) {
	s.unpark(c)
	s.align(c.by)
	reply := c.effect()
	if a == lost {
		reply = "lost"
	}
	c.by.note(c, reply)
	c.answer <- a
}

func (s *schedule) unpark(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked = slices.DeleteFunc(s.parked, func(other *call) bool { return other == c })
}

func (s *schedule) align(p *process) {
	off := (p.number - int(time.Now().UnixNano()%slots) + slots) % slots
	time.Sleep(time.Duration(off))
}

// kill ends a process: nothing of it goes on. Its pending requests take effect later if they are in late.
func (s *schedule) kill(p *process) {
	s.mu.Lock()
	p.dead = true
	var ended []*call
	s.parked = slices.DeleteFunc(s.parked, func(c *call) bool {
		if c.by == p {
			ended = append(ended, c)
		}
		return c.by == p
	})
	s.mu.Unlock()
	for _, c := range ended {
		c.answer <- die
	}
	p.died(p)
}

// killAll ends all processes, and waits until their timers have fired.
func (s *schedule) killAll() {
	for _, p := range s.processes {
		s.kill(p)
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	s.waiting() // which also synchronizes with their writes, by the mutex
}

// sleepUntilSomethingHappens lets time pass until a timer fires.
func (s *schedule) sleepUntilSomethingHappens() bool {
	for d := 10 * time.Millisecond; d < time.Hour; d *= 2 {
		time.Sleep(d)
		synctest.Wait()
		if len(s.waiting()) > 0 || s.isOver() {
			s.trace = append(s.trace, event{what: "time passes"})
			return true
		}
	}
	return false
}

// options lists the ways to continue, the undisturbed one first.
func (s *schedule) options() []option {
	calls := s.waiting()
	slices.SortStableFunc(calls, func(a, b *call) int {
		return cmp.Compare(s.rank(a), s.rank(b)) // the last process continues
	})
	var all []option
	for i, c := range calls {
		cost := budget{}
		if i > 0 && calls[0].by == s.current {
			cost.preemptions = 1
		}
		all = append(all, option{event{call: c}, func() { s.current = c.by; s.carryOut(c, done) }, cost})
	}
	for _, c := range calls {
		all = append(all, s.disturbances(c)...)
	}
	late := s.late
	for i, c := range late {
		all = append(all, option{event{", which is late", c}, func() {
			s.late = slices.Delete(slices.Clone(late), i, i+1)
			c.effect()
		}, budget{}})
	}
	if len(calls) == 0 {
		return nil
	}
	if s.holder != nil && !s.holder.dead {
		all = append(all, option{event{what: "the session of " + s.holder.name + " is lost"}, s.failOver, budget{replies: 1}})
	}
	for _, d := range s.pauses {
		all = append(all, option{event{what: "everybody pauses for " + d.String()}, func() { s.pause(d) }, budget{pauses: 1}})
	}
	return slices.DeleteFunc(all, func(o option) bool {
		return !o.cost.within(s.left)
	})
}

// pause lets time pass. In the meantime, guards end the plugins of dead processes.
func (s *schedule) pause(d time.Duration) {
	for _, p := range s.processes {
		if p.dead {
			s.endPlugins(p)
		}
	}
	time.Sleep(d)
}

// failOver moves the database to another server, which has no sessions and a clock of its own.
func (s *schedule) failOver() {
	s.holder = nil
	s.serverSkew += s.jump
}

func (s *schedule) rank(c *call) int {
	if c.by == s.current {
		return 0
	}
	return 1
}

// disturbances are the ways in which a call can go wrong.
func (s *schedule) disturbances(c *call) []option {
	p := c.by
	crash := func(what string, late int, also func()) option {
		return option{event{" is killed " + what, c}, func() { s.kill(p); also() }, budget{crashes: 1, late: late}}
	}
	linger := func() { s.late = append(s.late, c) }
	switch {
	case !p.mortal:
		return nil
	case c.kind == change:
		return []option{
			crash("before", 0, func() {}), crash("in the middle of what happens later", 1, linger),
			{event{" gets no reply", c}, func() { s.current = p; s.carryOut(c, lost) }, budget{replies: 1}},
		}
	case c.kind == operate:
		return []option{crash("before", 0, func() {}), crash("while its plugin goes on", 0, linger)}
	}
	return nil
}

// state returns a hash of the positions of all processes and of their shared state. It does not depend on the budget that is left.
func (s *schedule) state() uint64 {
	d := digest{bytes: make([]byte, 0, 4096)}
	d.number(uint64(s.clock().UnixMilli()))
	d.flag(s.disturbed)
	s.world.describe(&d)
	for _, p := range s.processes {
		d.number(p.seen)
		d.flag(p.dead)
		d.flag(p.over)
		d.flag(s.left.preemptions < unlimited && p == s.current)
	}
	for _, c := range s.waiting() {
		d.number(uint64(c.by.number))
		d.text(c.what)
	}
	d.flag(true)
	for _, c := range s.late {
		d.number(uint64(c.by.number))
		d.text(c.what)
	}
	return d.sum()
}

func (s *schedule) fail(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}
