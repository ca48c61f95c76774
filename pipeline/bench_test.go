package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// Four stages of the shape of a preview: a single writer, two wide ones, a single writer.
func fourStages(n, workers int, call func(context.Context)) Flow[int] {
	pass := func(ctx context.Context, v int, emit Emit[int]) error { return emit(v) }
	wide := func(ctx context.Context, v int, emit Emit[int]) error {
		call(ctx)
		return emit(v)
	}
	f := Via(numbers(n, 16), Stage[int, int]{Name: "lookup", Buffer: 16, Run: pass})
	f = Via(f, Stage[int, int]{Name: "check", Workers: workers, Buffer: 16, Run: wide})
	f = Via(f, Stage[int, int]{Name: "diff", Workers: workers, Buffer: 16, Run: wide})
	return Via(f, Stage[int, int]{Name: "build", Buffer: 16, Run: pass})
}

// measure runs the flow that make returns and reports items per second and the highest number of goroutines.
func measure(b *testing.B, n int, make func() Flow[int]) {
	b.Helper()
	b.ReportAllocs()
	peak := 0
	for b.Loop() {
		seen := 0
		err := Run(b.Context(), make(), func(context.Context, int) error {
			if seen++; seen%512 == 0 {
				peak = max(peak, runtime.NumGoroutine())
			}
			return nil
		})
		if err != nil || seen != n {
			b.Fatal(seen, err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
	b.ReportMetric(float64(peak), "goroutines")
}

func BenchmarkFourStages(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			measure(b, n, func() Flow[int] { return fourStages(n, 64, func(context.Context) {}) })
		})
	}
}

func BenchmarkFourStagesWithCallsOfAMillisecond(b *testing.B) {
	for _, workers := range []int{64, 256, Unbounded} {
		b.Run(fmt.Sprintf("10000/workers%d", workers), func(b *testing.B) {
			measure(b, 10_000, func() Flow[int] {
				return fourStages(10_000, workers, func(context.Context) { time.Sleep(time.Millisecond) })
			})
		})
	}
}

func BenchmarkActorThatAsksAboutEveryInput(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			measure(b, n, func() Flow[int] {
				return ViaActor(numbers(n, 16), asker(64, func(_ context.Context, v int) (int, error) { return v, nil }))
			})
		})
	}
}
