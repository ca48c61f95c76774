package meter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/bench/internal/profiles"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/internal/platform/cputime"
)

// Reading is one measurement.
type Reading struct {
	// Values lack metrics that the system does not report.
	Values map[results.Metric]float64
	// Latencies are those of the answers to resources; nil if they are unknown.
	Latencies *results.Latencies
	// Timeline is nil unless the run has one.
	Timeline []results.Moment
}

// Run says what a run records besides its values. The zero Run records nothing else.
type Run struct {
	Timeline bool
	Profile  *profiles.Profile // nil is none
}

// interval is the interval at which memory and goroutines are sampled.
const interval = 2 * time.Millisecond

// Function measures f in this process. Its memory is the increase over that in use before f.
func Function(ctx context.Context, run Run, f func(ctx context.Context) error) (Reading, error) {
	if run.Profile != nil {
		var r Reading
		err := run.Profile.Function(func() (err error) {
			r, err = Function(ctx, Run{Timeline: run.Timeline}, f)
			return err
		})
		return r, err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := newPeaks(run.Timeline)
	written := writtenSoFar()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var watch conc.WaitGroup
	watch.Go(func() { every(watching, p.look) })

	began, worked := time.Now(), cputime.SoFar()
	err := f(ctx)
	took, work := time.Since(began), cputime.SoFar()-worked

	stop()
	watch.Wait()
	p.look()
	runtime.ReadMemStats(&after)
	values := map[results.Metric]float64{
		results.Time: took.Seconds(), results.Allocated: float64(after.TotalAlloc - before.TotalAlloc), results.Allocs: float64(after.Mallocs - before.Mallocs),
		results.Peak: max(0, p.most.Memory-p.before.Memory), results.Goroutines: max(0, p.most.Goroutines-p.before.Goroutines),
		results.Collected: p.most.Collections - p.before.Collections,
	}
	if work > 0 {
		values[results.Work] = work.Seconds()
		values[results.Collector] = p.collector() * work.Seconds()
	}
	if now := writtenSoFar(); written >= 0 && now >= written {
		values[results.Written] = float64(now - written)
	}
	return Reading{Values: values, Timeline: p.moments()}, err
}

// peaks samples what this process uses.
type peaks struct {
	began        time.Time
	samples      []metrics.Sample
	before, most results.Moment
	busyBefore   float64           // see [peaks.busy]
	timeline     *results.Timeline // nil if the moments are not kept
}

// sampled are the metrics of Go's runtime in the order in which [peaks.now] reads them.
func sampled() []metrics.Sample {
	return []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/sched/goroutines:goroutines"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"},
	}
}

func newPeaks(timeline bool) *peaks {
	p := &peaks{began: time.Now(), samples: sampled()}
	p.before = p.now()
	p.busyBefore = p.busy()
	p.before.Goroutines++ // one of them samples
	p.most = p.before
	if timeline {
		p.timeline = &results.Timeline{}
	}
	return p
}

func (p *peaks) now() results.Moment {
	metrics.Read(p.samples)
	whole := func(i int) float64 { return float64(p.samples[i].Value.Uint64()) }
	return results.Moment{
		At: time.Since(p.began).Seconds(), Memory: whole(0) + whole(1), Goroutines: whole(2), Live: whole(3), Goal: whole(4), Collections: whole(5),
		Collector: p.samples[6].Value.Float64(),
	}
}

// busy is the processor time that the runtime did not count as idle, in the sample taken last. It counts the time by the clock in which its threads
// should have run: on a busy machine that is more than the system gave them.
func (p *peaks) busy() float64 { return p.samples[7].Value.Float64() - p.samples[8].Value.Float64() }

// collector is the share of the collector in the processor time, from 0 to 1. The runtime counts both when a collection ends.
func (p *peaks) collector() float64 {
	busy := p.busy() - p.busyBefore
	if busy <= 0 {
		return 0
	}
	return min(1, (p.most.Collector-p.before.Collector)/busy)
}

func (p *peaks) look() {
	m := p.now()
	p.most.Memory, p.most.Goroutines = max(p.most.Memory, m.Memory), max(p.most.Goroutines, m.Goroutines)
	p.most.Collections, p.most.Collector = max(p.most.Collections, m.Collections), max(p.most.Collector, m.Collector)
	if p.timeline != nil {
		m.Collections, m.Collector = m.Collections-p.before.Collections, m.Collector-p.before.Collector
		m.Goroutines = max(0, m.Goroutines-p.before.Goroutines)
		p.timeline.Add(m)
	}
}

func (p *peaks) moments() []results.Moment {
	if p.timeline == nil {
		return nil
	}
	return p.timeline.Moments()
}

// every calls look again and again until the context ends.
func every(ctx context.Context, look func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			look()
		}
	}
}

// Process measures a process. The work and the written bytes include its child processes that it waited for. An error has the last lines of its
// output. A timeline has the memory of the process alone and, if it is in Go, what its collector reports.
func Process(ctx context.Context, run Run, cmd *exec.Cmd) (Reading, error) {
	if run.Timeline {
		cmd.Env = append(cmd.Environ(), traced)
	}
	return process(ctx, run, cmd, func(output io.Writer, started func()) error {
		cmd.Stdout, cmd.Stderr = output, output
		if err := cmd.Start(); err != nil {
			return err
		}
		started()
		return cmd.Wait()
	})
}

// ProcessOnTerminal measures a process on a pseudo-terminal of 120 by 40 cells. Its output is read. A timeline has the memory of the process alone.
func ProcessOnTerminal(ctx context.Context, run Run, cmd *exec.Cmd) (Reading, error) {
	return process(ctx, run, cmd, func(output io.Writer, started func()) error {
		cmd.SysProcAttr = nil // it leads a session
		screen, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
		if err != nil {
			return err
		}
		started()
		var read conc.WaitGroup
		read.Go(func() { _, _ = io.Copy(output, screen) }) // ends with the process
		err = cmd.Wait()
		read.Wait()
		return errors.Join(err, screen.Close())
	})
}

func process(ctx context.Context, run Run, cmd *exec.Cmd, do func(output io.Writer, started func()) error) (Reading, error) {
	runtime.GC()
	var output bytes.Buffer
	var timeline results.Timeline
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var watch conc.WaitGroup
	defer watch.Wait()
	began := time.Now()
	err := do(&output, func() {
		if !run.Timeline {
			return
		}
		watch.Go(func() {
			every(watching, func() {
				if used := memoryOf(cmd.Process.Pid); used > 0 {
					timeline.Add(results.Moment{At: time.Since(began).Seconds(), Memory: float64(used)})
				}
			})
		})
	})
	took := time.Since(began)
	stop()
	watch.Wait()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(collection.ReplaceAllString(output.String(), "")), "\n")
		return Reading{}, fmt.Errorf("%s %s: %w\n%s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
	r := Reading{Values: map[results.Metric]float64{
		results.Time: took.Seconds(), results.Work: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
	}}
	if run.Timeline {
		r.Timeline = withCollections(timeline.Moments(), output.Bytes())
	}
	if peak, written := usageOf(cmd.ProcessState); peak > 0 {
		r.Values[results.Peak], r.Values[results.Written] = float64(peak), float64(written)
	}
	return r, nil
}
