package inprocess

import (
	"context"
	"runtime"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/stages"
)

// Extras measures cases outside the matrix: a replacement of a hub with a slow provider, and the memory in use at the end of an update.
func Extras(ctx context.Context, r *runner.Runner) error {
	if err := slowHub(ctx, r); err != nil {
		return err
	}
	for _, size := range r.Sizes {
		if err := memory(ctx, r, size); err != nil {
			return err
		}
	}
	return nil
}

const (
	probe       = 20 * time.Millisecond // the latency of each call while a hub is replaced
	probeRounds = 2                     // rounds of calls of a preview: the hub; then its dependents
	atMostTwice = 3                     // an update deletes the dependents and creates them again: the multiple of a destroy's time
)

// slowHub replaces a hub that is deleted first, and its dependents with it. The engine calls Diff for each dependent. A preview would at best
// make all calls at once; an update deletes and creates as many at the same time as a destroy deletes.
func slowHub(ctx context.Context, r *runner.Runner) error {
	d := delays{name: probe.String(), mean: probe, draw: func() time.Duration { return probe }}
	hubs := func(do operation) runner.Probe {
		return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
			s := newStack(&program{shape: shape.Hub, size: r.Dependents + 1, extra: hub(false)}, d)
			if err := s.create(ctx); err != nil {
				return meter.Reading{}, err
			}
			s.program.extra = hub(true)
			return s.measure(ctx, run, do)
		}
	}
	k := results.Key{Case: "replace a hub, preview", Shape: shape.Hub, Latency: d.name, Size: r.Dependents, Subject: results.Sluice}
	if r.Wants(k) {
		same := row{exists: true, prepared: hub(false), changed: hub(true), channels: (*channels).preview}
		err := r.Measure(ctx, k, runner.Contender{Subject: results.Sluice, Ideal: (probeRounds * probe).Seconds(), Probe: hubs(sluice.Preview)},
			runner.Contender{Subject: results.Channels, Probe: same.floor(results.Key{Shape: k.Shape, Size: k.Size + 1}, d, 0)})
		if err != nil {
			return err
		}
	}
	k.Case = "replace a hub, update"
	if !r.Wants(k) {
		return nil
	}
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Probe: hubs(sluice.Update), Targets: []results.Target{{Metric: results.Time, Versus: results.Destroy, AtMost: atMostTwice}},
	}, runner.Contender{Subject: results.Destroy, Probe: hubs(destroy)})
}

// targetMemory is the maximal number of bytes in use for a small resource.
const targetMemory = 20 << 10

// memory measures the memory in use at the end of an update. It includes the records of the program and of the cloud.
func memory(ctx context.Context, r *runner.Runner, size int) error {
	k := results.Key{Case: "memory at the end of an update", Shape: shape.Wide, Size: size, Subject: results.Sluice}
	if !r.Wants(k) {
		return nil
	}
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Targets: []results.Target{{Metric: results.Peak, AtMost: float64(targetMemory * (size + 100))}},
		Probe: func(ctx context.Context, run meter.Run) (meter.Reading, error) {
			used, took := 0.0, time.Duration(0)
			update := func() (err error) {
				began := time.Now()
				used, err = aliveAfterUpdate(ctx, size)
				took = time.Since(began)
				return err
			}
			reading := meter.Reading{Values: map[results.Metric]float64{}}
			if run.Profile != nil {
				err := run.Profile.Function(update)
				reading.Values[results.Time] = took.Seconds()
				return reading, err
			}
			err := update()
			reading.Values[results.Peak] = used
			return reading, err
		},
	})
}

// aliveAfterUpdate returns the bytes in use when the last event of an update arrives.
func aliveAfterUpdate(ctx context.Context, size int) (float64, error) {
	s := newStack(&program{shape: shape.Wide, size: size}, delays{})
	options := s.options()
	before, after := alive(), 0.0
	options.Observe = func(e stages.Event) {
		if _, last := e.(stages.Ended); last {
			after = alive()
		}
	}
	_, err := sluice.Update(ctx, options)
	runtime.KeepAlive(s)
	return after - before, err
}

func alive() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) + float64(m.StackInuse)
}
