package source_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func yields(list ...*stages.RegisterRequest) iter.Seq2[*stages.RegisterRequest, error] {
	return func(yield func(*stages.RegisterRequest, error) bool) {
		for _, q := range list {
			if !yield(q, nil) {
				return
			}
		}
	}
}

func named(name string, dependencies ...string) *stages.RegisterRequest {
	q := &stages.RegisterRequest{Type: "p:m:T", Name: name, Custom: true}
	for _, d := range dependencies {
		q.Dependencies = append(q.Dependencies, urn.New("dev", "proj", "", "p:m:T", d))
	}
	return q
}

func testMonitor() *monitortest.Monitor {
	return &monitortest.Monitor{Run: stages.RunInfo{Project: "proj", Stack: "dev"}}
}

func TestRequestsWaitForWhatTheyName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, began := testMonitor(), time.Now()
		m.OnRegister = func(_ context.Context, q *stages.RegisterRequest) (*stages.RegisterReply, error) {
			time.Sleep(time.Second)
			return m.Accept(q), nil
		}
		child := named("e")
		child.Parent = urn.New("dev", "proj", "", "p:m:T", "d")
		require.NoError(t, source.Requests(yields(named("a"), named("b"), named("c", "a", "b"), named("d"), child))(t.Context(), m))
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Len(t, m.Record().Registered, 5)
	})
}

func TestRequestsAreBoundedAndNeverWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := testMonitor()
		var mu sync.Mutex
		now, peak := 0, 0
		m.OnRegister = func(_ context.Context, q *stages.RegisterRequest) (*stages.RegisterReply, error) {
			mu.Lock()
			now++
			peak = max(peak, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return m.Accept(q), nil
		}
		list := []*stages.RegisterRequest{named("0")}
		for i := range 3000 {
			list = append(list, named(fmt.Sprint(i+1), fmt.Sprint(i/2))) // half of them have to wait
		}
		require.NoError(t, source.Requests(yields(list...))(t.Context(), m))
		require.Len(t, m.Record().Registered, 3001)
		require.Equal(t, 512, peak)
	})
}

func TestARequestThatFailsFailsTheProgramAndWhatNamesItIsNotRegistered(t *testing.T) {
	m := testMonitor()
	m.OnRegister = func(_ context.Context, q *stages.RegisterRequest) (*stages.RegisterReply, error) {
		if q.Name == "a" {
			return nil, errors.New("no room")
		}
		return m.Accept(q), nil
	}
	err := source.Requests(yields(named("a"), named("b", "a"), named("c")))(t.Context(), m)
	require.ErrorContains(t, err, "no room")
	var names []string
	for _, q := range m.Record().Registered {
		names = append(names, q.Name)
	}
	slices.Sort(names)
	require.Equal(t, []string{"a", "c"}, names)
}

func TestTheErrorOfASequenceFailsTheProgram(t *testing.T) {
	lost := errors.New("the table is gone")
	m := testMonitor()
	err := source.Requests(func(yield func(*stages.RegisterRequest, error) bool) {
		_ = yield(named("a"), nil) && yield(nil, lost) && yield(named("never"), nil)
	})(t.Context(), m)
	require.ErrorIs(t, err, lost)
	require.Len(t, m.Record().Registered, 1)
	require.Error(t, source.Requests(yields(nil))(t.Context(), m))
}

// The end of the run ends the iteration over a sequence that has no end.
func TestASequenceEndsWithTheRun(t *testing.T) {
	m, n := testMonitor(), 0
	m.OnRegister = func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
		return nil, stages.ErrShutDown
	}
	err := source.Requests(func(yield func(*stages.RegisterRequest, error) bool) {
		for yield(named(fmt.Sprint(n)), nil) {
			n++
		}
	})(t.Context(), m)
	require.ErrorIs(t, err, stages.ErrShutDown)
}

func TestASequenceThatPanicsLeavesNothingRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := testMonitor()
		m.OnRegister = func(ctx context.Context, _ *stages.RegisterRequest) (*stages.RegisterReply, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		require.PanicsWithValue(t, "boom", func() {
			_ = source.Requests(func(yield func(*stages.RegisterRequest, error) bool) {
				_ = yield(named("a"), nil)
				panic("boom")
			})(t.Context(), m)
		})
	})
}

// A program that ends before its sequence has not declared everything.
func TestASequenceThatIsCutOffIsNoSuccess(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	closing, m := errors.New("the office closes"), testMonitor()
	err := source.Requests(func(yield func(*stages.RegisterRequest, error) bool) {
		cancel(closing)
		_ = yield(named("a"), nil)
	})(ctx, m)
	require.ErrorIs(t, err, closing)
	require.Empty(t, m.Record().Registered)
}
