package providers

import (
	"context"
	"sync"

	"github.com/sluice-iac/sluice/providers/internal/gate"
	"github.com/sluice-iac/sluice/urn"
)

// Method names a method of a [Provider] that belongs to one resource or function.
type Method string

// The methods that [Limits] may limit. Call and Construct are not among them: they call back into the engine, and a call
// that waits for a slot while it holds one would stop the run.
const (
	MethodCheck  Method = "check"
	MethodDiff   Method = "diff"
	MethodCreate Method = "create"
	MethodRead   Method = "read"
	MethodUpdate Method = "update"
	MethodDelete Method = "delete"
	MethodInvoke Method = "invoke"
)

// LimitKey is what calls share a limit: the provider instance, the method, and the type of the resource. Of an invoke the
// type is the function's token.
type LimitKey struct {
	Provider urn.ProviderRef
	Method   Method
	Type     urn.Type
}

// Limits returns how many calls with the same key may be under way at once; 0 or less means any number. It is asked once
// for each key and must give the same answer for the same key. A nil Limits limits nothing, which is the default: the
// engine bounds changing calls itself, and Check, Diff and Read are cheap to leave waiting (models.md 5.2).
//
// The calls of one key get their slots in the order in which they came.
type Limits func(LimitKey) int

// lanes holds the slots of each key of one instance.
type lanes struct {
	limits Limits
	mu     sync.Mutex // guards slots
	slots  map[LimitKey]*slots
}

// acquire waits for a slot. release gives it back and may be called once; it is never nil unless err is not.
func (l *lanes) acquire(ctx context.Context, key LimitKey) (release func(), err error) {
	s := l.of(key)
	if s == nil {
		return func() {}, nil
	}
	return s.acquire(ctx)
}

func (l *lanes) of(key LimitKey) *slots {
	if l.limits == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.slots[key]
	if !known {
		if n := l.limits(key); n > 0 {
			s = &slots{free: n}
		}
		if l.slots == nil {
			l.slots = map[LimitKey]*slots{}
		}
		l.slots[key] = s
	}
	return s
}

// slots is a counting semaphore whose waiters are served in their order of arrival.
type slots struct {
	mu      sync.Mutex // guards the rest
	free    int
	waiting []*gate.Gate
}

func (s *slots) acquire(ctx context.Context) (func(), error) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return s.release, nil
	}
	turn := gate.New()
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()

	if err := turn.Wait(ctx); err != nil {
		s.abandon(turn)
		return nil, err
	}
	return s.release, nil
}

// abandon takes a waiter out of the queue. If its turn came at the same moment, the slot goes to the next one.
func (s *slots) abandon(turn *gate.Gate) {
	s.mu.Lock()
	for i, w := range s.waiting {
		if w == turn {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			s.mu.Unlock()
			turn.Open(nil)
			return
		}
	}
	s.mu.Unlock()
	s.release()
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	next.Open(nil)
}
