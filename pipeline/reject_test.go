package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// probe is an item that counts its outcomes: worked on by a stage that returned nil, rejected, or taken by the sink.
type probe struct {
	origin, step   int
	consumed, sunk atomic.Int64
	rejected       atomic.Int64
	mu             sync.Mutex
	err            error
	register       func(*probe)
}

func (p *probe) Reject(err error) {
	p.rejected.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// next is a fresh item for the next stage, so that every item's outcomes can be told apart.
func (p *probe) next() *probe {
	q := &probe{origin: p.origin, step: p.step + 1, register: p.register}
	p.register(q)
	return q
}

// plant describes one random pipeline and everything that goes wrong in it.
type plant struct {
	seed     uint64
	items    int
	stages   []plantStage
	cancelAt time.Duration // 0: never
	trouble  int           // of 100 calls, how many go wrong
}

type plantStage struct {
	kind            string
	workers, buffer int
}

func drawPlant(rt *rapid.T) plant {
	widths := rapid.SampledFrom([]int{1, 2, 5, Unbounded})
	stage := rapid.Custom(func(rt *rapid.T) plantStage {
		return plantStage{
			kind:    rapid.SampledFrom([]string{"stage", "asking", "gathering"}).Draw(rt, "kind"),
			workers: widths.Draw(rt, "workers"),
			buffer:  rapid.IntRange(0, 3).Draw(rt, "buffer"),
		}
	})
	return plant{
		seed:     rapid.Uint64().Draw(rt, "seed"),
		items:    rapid.IntRange(0, 30).Draw(rt, "items"),
		stages:   rapid.SliceOfN(stage, 0, 5).Draw(rt, "stages"),
		cancelAt: time.Duration(rapid.IntRange(0, 8).Draw(rt, "cancelAt")) * 100 * time.Millisecond,
		trouble:  rapid.SampledFrom([]int{0, 5, 30}).Draw(rt, "trouble"),
	}
}

// dice returns a number below n that depends on the call alone.
func (p plant) dice(n uint64, call ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, p.seed, call)
	return h.Sum64() % n
}

// mishap sleeps, and then perhaps goes wrong in one of three ways.
func (p plant) mishap(call string, v *probe) error {
	time.Sleep(time.Duration(p.dice(100, "nap", call, v.origin, v.step)) * time.Millisecond)
	if int(p.dice(100, "luck", call, v.origin, v.step)) >= p.trouble {
		return nil
	}
	switch p.dice(4, "how", call, v.origin, v.step) {
	case 0:
		panic("boom")
	case 1:
		runtime.Goexit()
	}
	return fmt.Errorf("%s %d: %w", call, v.origin, errBad)
}

// pass emits 0 to 2 fresh items; it counts v as consumed if all went well.
func (p plant) pass(v *probe, emit Emit[*probe]) error {
	for range 1 + p.dice(3, "fan", v.origin, v.step)%2 {
		if err := emit(v.next()); err != nil {
			return err
		}
	}
	v.consumed.Add(1)
	return nil
}

func (p plant) join(f Flow[*probe], i int, s plantStage) Flow[*probe] {
	name := fmt.Sprint(s.kind, i)
	switch s.kind {
	case "asking":
		return ViaActor(f, p.asking(name, s))
	case "gathering":
		return ViaActor(f, p.gathering(name, s))
	}
	return Via(f, Stage[*probe, *probe]{Name: name, Workers: s.workers, Buffer: s.buffer,
		Run: func(_ context.Context, v *probe, emit Emit[*probe]) error {
			if err := p.mishap("run", v); err != nil {
				return err
			}
			return p.pass(v, emit)
		}})
}

// asking hands every input over to an ask, which becomes an answer, from which results come.
func (p plant) asking(name string, s plantStage) Actor[*probe, *probe, *probe, *probe] {
	return Actor[*probe, *probe, *probe, *probe]{
		Name: name, Workers: s.workers, Buffer: s.buffer,
		Receive: func(_ context.Context, v *probe, x Exchange[*probe, *probe]) error {
			if err := p.mishap("receive", v); err != nil {
				return err
			}
			x.Ask(v.next())
			v.consumed.Add(1)
			return nil
		},
		Work: func(_ context.Context, v *probe) (*probe, error) {
			if err := p.mishap("work", v); err != nil {
				return nil, err
			}
			v.consumed.Add(1)
			return v.next(), nil
		},
		Resume: func(_ context.Context, v *probe, x Exchange[*probe, *probe]) error {
			if err := p.mishap("resume", v); err != nil {
				return err
			}
			return p.pass(v, x.Emit)
		},
	}
}

// gathering keeps every input until the end.
func (p plant) gathering(name string, s plantStage) Actor[*probe, *probe, *probe, *probe] {
	var kept []*probe
	return Actor[*probe, *probe, *probe, *probe]{
		Name: name, Workers: s.workers, Buffer: s.buffer,
		Receive: func(_ context.Context, v *probe, _ Exchange[*probe, *probe]) error {
			if err := p.mishap("receive", v); err != nil {
				return err
			}
			kept = append(kept, v)
			return nil
		},
		Work:   func(_ context.Context, v *probe) (*probe, error) { return v, nil },
		Resume: func(context.Context, *probe, Exchange[*probe, *probe]) error { return nil },
		Flush: func(_ context.Context, x Exchange[*probe, *probe]) error {
			for len(kept) > 0 {
				if err := p.mishap("flush", kept[0]); err != nil {
					return err
				}
				if err := x.Emit(kept[0].next()); err != nil {
					return err
				}
				kept[0].consumed.Add(1)
				kept = kept[1:]
			}
			return nil
		},
		Abandon: func(reason error) {
			for _, v := range kept {
				v.Reject(reason)
			}
			kept = nil
		},
	}
}

// operate runs the plant and returns all items ever made, and Run's error.
func (p plant) operate(t *testing.T) (items []*probe, err error) {
	var mu sync.Mutex
	register := func(v *probe) {
		mu.Lock()
		defer mu.Unlock()
		items = append(items, v)
	}
	f := From("source", 1, func(_ context.Context, emit Emit[*probe]) error {
		for i := range p.items {
			v := &probe{origin: i, register: register}
			register(v)
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	})
	for i, s := range p.stages {
		f = p.join(f, i, s)
	}
	ctx := t.Context()
	if p.cancelAt > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.cancelAt)
		defer cancel()
	}
	err = Run(ctx, f, func(_ context.Context, v *probe) error {
		if err := p.mishap("sink", v); err != nil {
			return err
		}
		v.sunk.Add(1)
		return nil
	})
	return items, err
}

// The package's invariant, over random pipelines, latencies, failures, panics and cancellations.
func TestEveryItemHasExactlyOneOutcome(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlant(rt)
		var items []*probe
		var err error
		synctest.Test(t, func(t *testing.T) { items, err = p.operate(t) })
		rejected := 0
		for _, v := range items {
			outcomes := v.consumed.Load() + v.rejected.Load() + v.sunk.Load()
			if outcomes != 1 {
				rt.Fatalf("item %d of step %d: worked on %d times, rejected %d times (%v), sunk %d times",
					v.origin, v.step, v.consumed.Load(), v.rejected.Load(), v.err, v.sunk.Load())
			}
			if v.rejected.Load() == 1 {
				rejected++
				checkOutcome(rt, v)
			}
		}
		if (err == nil) != (rejected == 0) && p.cancelAt == 0 {
			rt.Fatalf("%d items were rejected and Run returned %v", rejected, err)
		}
	})
}

func checkOutcome(rt *rapid.T, v *probe) {
	var stage *StageError
	if !errors.As(v.err, &stage) {
		rt.Fatalf("rejected without a stage: %v", v.err)
	}
	if !errors.Is(v.err, ErrStopped) && !errors.Is(v.err, errBad) && !errors.Is(v.err, errExited) {
		var p *PanicError
		if !errors.As(v.err, &p) {
			rt.Fatalf("rejected for no reason: %v", v.err)
		}
	}
}

func TestItemsAreRejectedWithTheErrorOfTheirStage(t *testing.T) {
	type item = *await.Promise[int]
	fail := func(context.Context, item, Emit[item]) error { return errBad }
	pass := func(_ context.Context, v item, emit Emit[item]) error { return emit(v) }
	for name, c := range map[string]struct {
		run  func(context.Context, item, Emit[item]) error
		sink func(context.Context, item) error
		want string
	}{
		"a stage's error": {run: fail, want: "work: bad"},
		"a panic":         {run: func(context.Context, item, Emit[item]) error { panic("boom") }, want: "work: panic: boom"},
		"the sink's":      {run: pass, sink: func(context.Context, item) error { return errBad }, want: "sink: bad"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := await.NewPromise[int]()
				err := Run(t.Context(), Via(fixed(v), Stage[item, item]{Name: "work", Run: c.run}), c.sink)
				require.EqualError(t, err, c.want)
				_, err = v.Wait(t.Context())
				require.EqualError(t, err, c.want)
			})
		})
	}
}

func TestItemsBehindAFailureAreRejectedAsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var items []*await.Promise[int]
		f := From("source", 3, func(_ context.Context, emit Emit[*await.Promise[int]]) error {
			for {
				v := await.NewPromise[int]()
				items = append(items, v)
				if err := emit(v); err != nil {
					require.Equal(t, ErrStopped, err)
					return err
				}
			}
		})
		f = Via(f, Stage[*await.Promise[int], *await.Promise[int]]{Name: "pass", Workers: 3, Buffer: 2,
			Run: func(_ context.Context, v *await.Promise[int], emit Emit[*await.Promise[int]]) error { return emit(v) }})
		err := Run(t.Context(), f, func(context.Context, *await.Promise[int]) error {
			time.Sleep(time.Second)
			return errBad
		})
		require.EqualError(t, err, "sink: bad")
		own := 0
		for _, v := range items {
			require.True(t, v.Decided())
			_, err := v.Wait(t.Context())
			require.ErrorIs(t, err, errBad, "the reason is told to everybody")
			if !errors.Is(err, ErrStopped) {
				own++
			}
		}
		require.Equal(t, 1, own)
		require.Greater(t, len(items), 8)
	})
}

type explosive struct{}

func (explosive) Reject(error)   { panic("reject") }
func (explosive) String() string { panic("string") }

func TestBrokenItemsCannotBreakTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Via(fixed(explosive{}, explosive{}), Stage[explosive, int]{Name: "work", Workers: 2, Run: func(context.Context, explosive, Emit[int]) error {
			time.Sleep(time.Second) // until both are worked on
			panic("run")
		}})
		_, err := collect(t.Context(), f)
		require.Equal(t, []string{
			"work: panic: run", "work: panic: run", "work: panic: reject", "work: panic: reject",
		}, lines(t, err))
	})
}

func TestNothingIsAcceptedOrBegunOnceTheRunIsOver(t *testing.T) {
	type item = *await.Promise[int]
	begun := func(t *testing.T) { t.Error("work was begun after the end of the run") }
	for name, join := range map[string]func(*testing.T, Flow[item]) Flow[item]{
		"stage": func(t *testing.T, f Flow[item]) Flow[item] {
			return Via(f, Stage[item, item]{Name: "next", Workers: 2, Buffer: 9,
				Run:   func(context.Context, item, Emit[item]) error { begun(t); return nil },
				Flush: func(context.Context, Emit[item]) error { begun(t); return nil }})
		},
		"actor": func(t *testing.T, f Flow[item]) Flow[item] {
			return ViaActor(f, Actor[item, item, item, item]{Name: "next",
				Receive: func(context.Context, item, Exchange[item, item]) error { begun(t); return nil },
				Work:    func(context.Context, item) (item, error) { begun(t); return nil, nil },
				Resume:  func(context.Context, item, Exchange[item, item]) error { begun(t); return nil },
				Flush:   func(context.Context, Exchange[item, item]) error { begun(t); return nil }})
		},
		"sink": func(_ *testing.T, f Flow[item]) Flow[item] { return f },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var late []item
				f := From("source", 30, func(ctx context.Context, emit Emit[item]) error {
					cancel()
					for range 20 {
						v := await.NewPromise[int]()
						late = append(late, v)
						require.Equal(t, ErrStopped, emit(v), "even where there is room")
					}
					return nil
				})
				err := Run(ctx, join(t, f), func(context.Context, item) error { begun(t); return nil })
				require.Equal(t, context.Canceled, err)
				for _, v := range late {
					_, err := v.Wait(t.Context())
					require.EqualError(t, err, "source: pipeline stopped: context canceled")
				}
				require.Len(t, late, 20)
			})
		})
	}
}

func TestBufferedItemsAreRejectedByTheActorThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		items := []*await.Promise[int]{await.NewPromise[int](), await.NewPromise[int](), await.NewPromise[int]()}
		received := 0
		_, err := collect(ctx, ViaActor(From("source", 3, func(_ context.Context, emit Emit[*await.Promise[int]]) error {
			for _, v := range items {
				if err := emit(v); err != nil {
					return err
				}
			}
			return nil
		}), Actor[*await.Promise[int], int, int, int]{Name: "late",
			Receive: func(_ context.Context, v *await.Promise[int], _ Exchange[int, int]) error {
				received++
				time.Sleep(time.Second) // the others are in the buffer by then
				cancel()
				v.Resolve(1)
				return nil
			},
			Work:   func(context.Context, int) (int, error) { return 0, nil },
			Resume: func(context.Context, int, Exchange[int, int]) error { return nil },
		}))
		require.Equal(t, context.Canceled, err)
		require.Equal(t, 1, received)
		for _, v := range items[1:] {
			_, err := v.Wait(t.Context())
			require.EqualError(t, err, "late: pipeline stopped: context canceled")
		}
	})
}
