package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// asker is an actor that makes one ask for every input and emits the answers.
func asker(workers int, work func(context.Context, int) (int, error)) Actor[int, int, int, int] {
	return Actor[int, int, int, int]{
		Name: "ask", Workers: workers,
		Receive: func(_ context.Context, v int, x Exchange[int, int]) error { x.Ask(v); return nil },
		Work:    work,
		Resume:  func(_ context.Context, v int, x Exchange[int, int]) error { return x.Emit(v) },
	}
}

func TestActorGoesOnWithOtherInputUntilTheAnswerArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asker(1, func(_ context.Context, v int) (int, error) { time.Sleep(time.Second); return v, nil })
		a.Receive = func(_ context.Context, v int, x Exchange[int, int]) error {
			if v == 0 {
				x.Ask(v)
				return nil
			}
			return x.Emit(v)
		}
		got, err := collect(t.Context(), ViaActor(numbers(5, 0), a))
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3, 4, 0}, got)
	})
}

func TestAsksAreWorkedOnInParallelUpToTheWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		workers int
		took    time.Duration
	}{"one": {0, 60 * time.Second}, "six": {6, 10 * time.Second}, "unbounded": {Unbounded, time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				a := asker(c.workers, func(_ context.Context, v int) (int, error) { time.Sleep(time.Second); return v, nil })
				got, err := collect(t.Context(), ViaActor(numbers(60, 0), a))
				require.NoError(t, err)
				require.ElementsMatch(t, upTo(60), got)
				require.Equal(t, c.took, time.Since(began))
			})
		})
	}
}

func TestActorsFunctionsShareUnlockedState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parked := map[int]bool{} // unlocked on purpose: the race detector watches
		a := asker(8, func(_ context.Context, v int) (int, error) { nap(9, v, time.Second); return v, nil })
		a.Receive = func(_ context.Context, v int, x Exchange[int, int]) error {
			parked[v] = true
			x.Ask(v)
			return nil
		}
		a.Resume = func(_ context.Context, v int, x Exchange[int, int]) error {
			delete(parked, v)
			return x.Emit(v)
		}
		a.Flush = func(_ context.Context, x Exchange[int, int]) error { return x.Emit(-1 - len(parked)) }
		got, err := collect(t.Context(), ViaActor(numbers(100, 4), a))
		require.NoError(t, err)
		require.Len(t, got, 101)
		require.Equal(t, -1, got[100], "the flush comes last and finds nothing parked")
	})
}

func TestAnswersQueueWhileTheActorIsBlockedInEmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := await.NewEvent()
		var worked atomic.Int64
		a := asker(2, func(_ context.Context, v int) (int, error) { worked.Add(1); return v, nil })
		a.Receive = func(_ context.Context, v int, x Exchange[int, int]) error {
			for k := range 50 {
				x.Ask(v*50 + k)
			}
			return x.Emit(-1)
		}
		ended := await.NewPromise[int]()
		go func() {
			n := 0
			err := Run(t.Context(), ViaActor(numbers(1, 0), a), func(ctx context.Context, _ int) error {
				n++
				return open.Wait(ctx)
			})
			require.NoError(t, err)
			ended.Resolve(n)
		}()
		synctest.Wait()
		require.EqualValues(t, 50, worked.Load(), "all that was asked has been answered")
		open.Fire()
		n, err := ended.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 51, n)
	})
}

func TestResumeMayAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asker(3, func(_ context.Context, v int) (int, error) { return v - 1, nil })
		a.Resume = func(_ context.Context, v int, x Exchange[int, int]) error {
			if v > 0 {
				x.Ask(v)
				return nil
			}
			return x.Emit(v)
		}
		got, err := collect(t.Context(), ViaActor(fixed(5, 9, 2), a))
		require.NoError(t, err)
		require.Equal(t, []int{0, 0, 0}, got)
	})
}

func TestFlushIsCalledAgainWhenItAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		rounds := 0
		a := asker(4, func(_ context.Context, v int) (int, error) { time.Sleep(time.Second); return v, nil })
		a.Receive = func(context.Context, int, Exchange[int, int]) error { return nil }
		a.Flush = func(_ context.Context, x Exchange[int, int]) error {
			log = append(log, fmt.Sprint("flush ", rounds))
			if rounds < 2 {
				rounds++
				x.Ask(rounds)
				x.Ask(rounds)
			}
			return nil
		}
		a.Resume = func(_ context.Context, v int, x Exchange[int, int]) error {
			log = append(log, fmt.Sprint("answer ", v))
			return x.Emit(v)
		}
		got, err := collect(t.Context(), ViaActor(numbers(3, 0), a))
		require.NoError(t, err)
		require.Equal(t, []int{1, 1, 2, 2}, got)
		require.Equal(t, "flush 0,answer 1,answer 1,flush 1,answer 2,answer 2,flush 2", strings.Join(log, ","))
	})
}

// note is an ask or an answer that somebody waits for.
type note struct {
	*await.Promise[string]
	number int
}

func TestFailuresOfAnActorAreListedByTheInputThatLedToThem(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			a := Actor[int, note, note, int]{
				Name: "plan", Workers: Unbounded,
				Receive: func(_ context.Context, v int, x Exchange[note, int]) error {
					x.Ask(note{await.NewPromise[string](), v})
					return nil
				},
				Work: func(_ context.Context, n note) (note, error) {
					if n.number == 4 {
						time.Sleep(time.Second / 2) // until all have been received
						return n, nil
					}
					time.Sleep(time.Second) // until 4 has been resumed
					nap(seed, n.number, time.Second)
					return n, fmt.Errorf("work %02d", n.number)
				},
				Resume: func(_ context.Context, n note, _ Exchange[note, int]) error {
					time.Sleep(time.Second)
					return fmt.Errorf("resume %02d", n.number)
				},
				Flush: func(context.Context, Exchange[note, int]) error { t.Error("flushed"); return nil },
			}
			_, err := collect(t.Context(), ViaActor(numbers(7, 0), a))
			require.Equal(t, []string{
				"plan: work 00", "plan: work 01", "plan: work 02", "plan: work 03", "plan: resume 04", "plan: work 05", "plan: work 06",
			}, lines(t, err))
		})
	}
}

func TestFailedAskIsRejectedAndNotResumed(t *testing.T) {
	for name, work := range map[string]func() error{
		"error": func() error { return errBad },
		"panic": func() error { panic(errBad) },
		"exit":  func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := note{Promise: await.NewPromise[string]()}
				_, err := collect(t.Context(), ViaActor(numbers(1, 0), Actor[int, note, note, int]{
					Name:    "plan",
					Receive: func(_ context.Context, _ int, x Exchange[note, int]) error { x.Ask(n); return nil },
					Work:    func(context.Context, note) (note, error) { return n, work() },
					Resume: func(context.Context, note, Exchange[note, int]) error {
						t.Error("resumed")
						return nil
					},
				}))
				require.Len(t, lines(t, err), 1)
				_, rejected := n.Wait(t.Context())
				require.Error(t, rejected)
				require.Equal(t, err.Error(), rejected.Error())
				require.NotErrorIs(t, rejected, ErrStopped)
			})
		})
	}
}

func TestActorSurvivesFunctionsThatEndTheirGoroutine(t *testing.T) {
	for name, spoil := range map[string]func(*Actor[note, note, note, note]){
		"receive": func(a *Actor[note, note, note, note]) {
			a.Receive = func(context.Context, note, Exchange[note, note]) error { runtime.Goexit(); return nil }
		},
		"resume": func(a *Actor[note, note, note, note]) {
			a.Resume = func(context.Context, note, Exchange[note, note]) error { runtime.Goexit(); return nil }
		},
		"flush": func(a *Actor[note, note, note, note]) {
			a.Flush = func(context.Context, Exchange[note, note]) error {
				time.Sleep(time.Second) // until the sink has taken all
				runtime.Goexit()
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var items []note
				for i := range 5 {
					items = append(items, note{await.NewPromise[string](), i})
				}
				var reason error
				a := Actor[note, note, note, note]{
					Name: "ask", Workers: 2,
					Receive: func(_ context.Context, n note, x Exchange[note, note]) error { x.Ask(n); return nil },
					Work:    func(_ context.Context, n note) (note, error) { time.Sleep(time.Second); return n, nil },
					Resume:  func(_ context.Context, n note, x Exchange[note, note]) error { return x.Emit(n) },
					Abandon: func(err error) { reason = err },
				}
				spoil(&a)
				source := From("source", 2, func(_ context.Context, emit Emit[note]) error {
					for _, n := range items {
						_ = emit(n) // it is rejected if it is not accepted
					}
					return nil
				})
				sent := 0
				err := Run(t.Context(), ViaActor(source, a), func(_ context.Context, n note) error { n.Resolve(""); return nil })
				require.EqualError(t, err, "ask: "+errExited.Error())
				require.ErrorIs(t, reason, errExited)
				for _, n := range items {
					if _, err := n.Wait(t.Context()); err == nil {
						sent++
					}
				}
				require.Equal(t, map[string]int{"flush": 5}[name], sent)
			})
		})
	}
}

func TestEndOfTheRunRejectsAsksAnswersAndAbandonsWhatIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(why) })
		var asked []note
		var reasons []error
		a := Actor[int, note, note, int]{
			Name: "plan", Workers: 2,
			Receive: func(_ context.Context, v int, x Exchange[note, int]) error {
				n := note{await.NewPromise[string](), v}
				asked = append(asked, n)
				x.Ask(n)
				return nil
			},
			Work: func(ctx context.Context, n note) (note, error) {
				if n.number > 0 {
					<-ctx.Done()
				}
				return n, nil // those that have begun still end with an answer, which comes too late
			},
			Resume: func(_ context.Context, n note, _ Exchange[note, int]) error {
				require.Zero(t, n.number)
				return nil // kept: Abandon lets it go
			},
			Flush:   func(context.Context, Exchange[note, int]) error { t.Error("flushed"); return nil },
			Abandon: func(err error) { reasons = append(reasons, err); asked[0].Reject(err) },
		}
		_, err := collect(ctx, ViaActor(numbers(10, 0), a))
		require.Equal(t, why, err)
		require.Len(t, asked, 10)
		for _, n := range asked {
			require.True(t, n.Decided(), "note %d", n.number)
			_, err := n.Wait(t.Context())
			require.EqualError(t, err, "plan: pipeline stopped: enough")
			require.ErrorIs(t, err, ErrStopped)
		}
		require.Len(t, reasons, 1)
		require.ErrorIs(t, reasons[0], why)
	})
}
