package modelcheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/lock"
)

// scenario defines the explored schedules: the processes that use the stack, and the limits on their disturbances.
type scenario struct {
	setting
	processes []func(*process)
	skew      []time.Duration // of their clocks
	budget    budget
	flaw      func(d *disk, w *write)
}

// explorer explores every schedule of a scenario once, depth first. It does not continue a schedule that reaches a known state.
// It repeats the beginning of a schedule to get to the place where it continues.
type explorer struct {
	scenario
	beginning *disk
	path      []turn
	depth     int
	known     map[place]bool
	sound     map[uint64]bool // states in which all processes are over, and that keep the rules
	schedules int
	steps     int
}

// place is a state in which a schedule can continue, with what is left of its budget.
type place struct {
	state uint64
	left  budget
}

// turn is a place at which a schedule can continue in several ways.
type turn struct {
	way, ways int
	place     place
}

func newExplorer(t *testing.T, s scenario) *explorer {
	return &explorer{scenario: s, beginning: newStack(t, s), known: map[place]bool{}, sound: map[uint64]bool{}}
}

// choose implements [choose].
func (x *explorer) choose(s *schedule, ways int) (way int, on bool) {
	if x.depth == len(x.path) {
		now := place{s.state(), s.left}
		if x.known[now] {
			return 0, false
		}
		x.known[now] = true
		x.path = append(x.path, turn{0, ways, now})
	}
	at := x.path[x.depth]
	if at.ways != ways || x.depth == len(x.path)-1 && at.place != (place{s.state(), s.left}) {
		panic("a schedule that is repeated is another one: something depends on what the scheduler does not own")
	}
	x.depth++
	return at.way, true
}

// next goes to the next schedule, if there is one.
func (x *explorer) next() bool {
	for len(x.path) > 0 {
		last := &x.path[len(x.path)-1]
		if last.way++; last.way < last.ways {
			return true
		}
		x.path = x.path[:len(x.path)-1]
	}
	return false
}

// outcome is a schedule with its violation.
type outcome struct {
	faults []string
	trace  []event
}

func (o *outcome) String() string {
	var b strings.Builder
	b.WriteString(strings.Join(o.faults, "\n") + "\n\nafter")
	for _, e := range o.trace {
		b.WriteString("\n  " + e.String())
	}
	return b.String()
}

// find returns the first schedule that breaks a rule, nil if there is none.
func (x *explorer) find(t *testing.T) *outcome {
	for {
		x.schedules++
		o := x.once(t)
		x.steps += len(o.trace)
		if len(o.faults) > 0 {
			return o
		}
		if x.schedules == most || !x.next() {
			return nil
		}
	}
}

// shortest returns the shortest violating schedule with as few interruptions as possible, nil if there is none.
func shortest(t *testing.T, s scenario) (least *outcome) {
	for most := s.budget.preemptions; s.budget.preemptions <= most+3 && least == nil; s.budget.preemptions++ {
		x := newExplorer(t, s)
		for on := true; on; on = x.next() {
			o := x.once(t)
			if len(o.faults) > 0 && (least == nil || len(o.trace) < len(least.trace)) {
				least = o
			}
		}
	}
	return least
}

// once explores one schedule.
func (x *explorer) once(t *testing.T) *outcome {
	o := &outcome{}
	x.depth = 0
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Millisecond / 2)
		w := &world{setting: x.setting, disk: x.beginning.clone(), absent: map[string]bool{}, renewed: map[string]time.Time{}, objects: x.existing()}
		s := &schedule{t: t, left: x.budget, choose: x.choose, world: w}
		uuid.SetRand(s.streams())
		defer uuid.SetRand(nil)
		for i, run := range x.processes {
			p := s.add(fmt.Sprintf("process %d", i+1), true, run)
			if i < len(x.skew) {
				p.skew = x.skew[i]
			}
		}
		if s.explore() {
			if end := s.state(); !x.sound[end] {
				s.inspect()
				x.sound[end] = len(s.faults) == 0
			}
		}
		s.killAll()
		o.faults, o.trace = s.faults, s.trace
	})
	return o
}

// streams are the random numbers of the processes, each of which has its own: they must be the same when a schedule is
// repeated. The time identifies the reader.
type streams struct {
	mu       sync.Mutex // guards the counters
	schedule *schedule
}

func (s *schedule) streams() *streams { return &streams{schedule: s} }

func (r *streams) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := int(time.Now().UnixNano() % slots)
	p := r.schedule.processes[number-1]
	for i := 0; i < len(b); i += 8 {
		p.random++
		// SplitMix64
		z := (p.random<<slots + uint64(number)) * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		var next [8]byte
		binary.LittleEndian.PutUint64(next[:], z^z>>31)
		copy(b[i:], next[:])
	}
	return len(b), nil
}

// inspect runs one more process after the others, undisturbed, and checks the rules.
func (s *schedule) inspect() {
	s.left = budget{preemptions: unlimited}
	s.choose = func(*schedule, int) (int, bool) { return 0, true }
	s.pauses = nil
	var found *state.Snapshot
	last := s.add("the last process", false, inspect(&found))
	s.current = last
	s.explore()
	switch err := last.result; {
	case err != nil:
		s.fail("the stack cannot be used any more: %v", err)
	case found != nil:
		s.checkObjects(found)
		s.checkResults()
	}
}

// checkObjects checks that the state is complete.
func (s *schedule) checkObjects(found *state.Snapshot) {
	recorded, values, pending := map[string]string{}, map[string]int{}, map[string]bool{}
	for _, res := range found.Resources {
		recorded[res.URN.Name()], values[res.URN.Name()] = res.ID, valueOf(res)
	}
	for _, op := range found.Pending {
		pending[op.Resource.URN.Name()] = true
	}
	for i, o := range s.objects {
		decided := s.forced && s.absent[o.name]
		known := pending[o.name] || s.isSetAside(o)
		switch is := recorded[o.name] == o.id; {
		case is && o.gone && !known:
			s.fail("object %s does not exist, and the state has it", o.id)
		case is && values[o.name] != o.value && !known:
			s.fail("object %s has the value %d, and the state says %d", o.id, o.value, values[o.name])
		}
		if o.gone {
			continue
		}
		if recorded[o.name] != o.id && !pending[o.name] && !decided && !s.isSetAside(o) {
			s.fail("object %s exists, and the state does not know of it", o.id)
		}
		if slices.ContainsFunc(s.objects[:i], func(other object) bool { return other.name == o.name }) && !s.forced {
			s.fail("%s was made twice", o.name)
		}
	}
	for _, o := range s.acked {
		told := !o.by.dead && o.by.result == nil
		decided := !told && (s.forced && (pending[o.name] || s.absent[o.name]) || s.isSetAside(o))
		switch is := recorded[o.name] == o.id; {
		case o.gone && is && !decided:
			s.fail("%s was told that the delete of object %s is recorded, and it is not", o.by.name, o.id)
		case !o.gone && !is && !decided && !s.object(o.id).gone:
			s.fail("%s was told that object %s is recorded, and it is not", o.by.name, o.id)
		}
	}
}

// isSetAside reports whether an object is in the data that was set aside for people: as itself, or as one that may exist.
func (s *schedule) isSetAside(o object) bool {
	for _, key := range slices.Concat(s.disk.list(".pulumi/sluice/salvage/"), s.disk.list(".pulumi/sluice/rejected/")) {
		text := string(s.disk.contents[key].bytes)
		if strings.Contains(text, `"`+o.id+`"`) || strings.Contains(text, string(urnOf(o.name))) && !strings.Contains(text, `"`+o.name+"-") {
			return true
		}
	}
	return false
}

// checkResults checks that undisturbed processes have succeeded.
func (s *schedule) checkResults() {
	if s.disturbed {
		return
	}
	for _, p := range s.processes {
		var held *lock.HeldError
		if err := p.result; err != nil && !errors.As(err, &held) {
			s.fail("%s was not disturbed and failed: %v", p.name, err)
		}
	}
}

// newStack returns a disk with a stack and its initial objects.
func newStack(t *testing.T, s scenario) (d *disk) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Millisecond / 2)
		w := &world{setting: s.setting, disk: &disk{contents: map[string]content{}, writes: map[string]int{}}, renewed: map[string]time.Time{}}
		first := &schedule{t: t, world: w, choose: func(*schedule, int) (int, bool) { return 0, true }}
		first.add("init", false, func(p *process) {
			b, err := p.backend(context.Background())
			if err == nil {
				err = s.init(b)
			}
			p.finish(err)
		})
		first.explore()
		require.NoError(t, first.processes[0].result)
		require.Empty(t, w.faults)
		d = w.disk
		d.flaw = s.flaw
	})
	return d
}
