package pipeline

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

func TestLimitCapsEachKeyAndLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		inside, most, served := map[string]int{}, map[string]int{}, map[string][]int{}
		ended := map[string]time.Duration{}
		key := func(v int) string { return []string{"slow", "quick", "free"}[v%3] }
		limits := map[string]int{"slow": 1, "quick": 4}
		began := time.Now()
		s := Limit(Stage[int, int]{Name: "call", Workers: Unbounded, Run: func(_ context.Context, v int, emit Emit[int]) error {
			k := key(v)
			mu.Lock()
			inside[k]++
			most[k] = max(most[k], inside[k])
			served[k] = append(served[k], v)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			inside[k]--
			ended[k] = time.Since(began)
			mu.Unlock()
			return emit(v)
		}}, key, func(k string) int { return limits[k] })
		got, err := collect(t.Context(), Via(slowly(60), s))
		require.NoError(t, err)
		require.Len(t, got, 60)
		require.Equal(t, 1, most["slow"])
		require.Equal(t, 4, most["quick"])
		require.Equal(t, 20, most["free"])
		require.Less(t, ended["free"], 2*time.Second, "the slow key must not hold up the others")
		require.Less(t, ended["quick"], 6*time.Second)
		require.IsIncreasing(t, served["slow"], "those that wait are served in turn")
	})
}

// slowly emits 0 to n-1, each one only when nothing else can happen at that moment.
func slowly(n int) Flow[int] {
	return From("numbers", 0, func(_ context.Context, emit Emit[int]) error {
		for i := range n {
			if err := emit(i); err != nil {
				return err
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
}

func TestInputThatWaitsForItsKeyIsSettledWhenTheRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		items := []*await.Promise[int]{await.NewPromise[int](), await.NewPromise[int](), await.NewPromise[int]()}
		began := 0
		s := Limit(Stage[*await.Promise[int], int]{Name: "call", Workers: 3, Run: func(ctx context.Context, p *await.Promise[int], _ Emit[int]) error {
			began++
			<-ctx.Done()
			p.Resolve(1)
			return nil
		}}, func(*await.Promise[int]) string { return "k" }, func(string) int { return 1 })
		_, err := collect(ctx, Via(fixed(items...), s))
		require.Equal(t, context.DeadlineExceeded, err)
		require.Equal(t, 1, began)
		texts := map[string]int{}
		for _, p := range items {
			_, err := p.Wait(t.Context())
			texts[fmt.Sprint(err)]++
		}
		require.Equal(t, map[string]int{"<nil>": 1, "call: pipeline stopped: context deadline exceeded": 2}, texts)
	})
}

// fixed is a source of the given values.
func fixed[T any](values ...T) Flow[T] {
	return From("source", 0, func(_ context.Context, emit Emit[T]) error {
		for _, v := range values {
			if err := emit(v); err != nil {
				return err
			}
		}
		return nil
	})
}
