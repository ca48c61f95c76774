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

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/internal/platform/cputime"
)

// Reading is one measurement. It lacks metrics that the system does not report.
type Reading map[results.Metric]float64

// interval is the interval at which memory and goroutines are sampled for their maxima.
const interval = 2 * time.Millisecond

// Function measures f in this process. Its memory is the increase over that in use before f.
func Function(ctx context.Context, f func(ctx context.Context) error) (Reading, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := newPeaks()
	written := writtenSoFar()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var watch conc.WaitGroup
	watch.Go(func() { p.watch(watching) })

	began, worked := time.Now(), cputime.SoFar()
	err := f(ctx)
	took, work := time.Since(began), cputime.SoFar()-worked

	stop()
	watch.Wait()
	p.look()
	runtime.ReadMemStats(&after)
	r := Reading{
		results.Time: took.Seconds(), results.Allocated: float64(after.TotalAlloc - before.TotalAlloc), results.Allocs: float64(after.Mallocs - before.Mallocs),
		results.Peak: max(0, p.memory-p.memoryBefore), results.Goroutines: max(0, p.goroutines-p.goroutinesBefore),
	}
	if work > 0 {
		r[results.Work] = work.Seconds()
	}
	if now := writtenSoFar(); written >= 0 && now >= written {
		r[results.Written] = float64(now - written)
	}
	return r, err
}

// peaks are the maxima of a measurement.
type peaks struct {
	samples                        []metrics.Sample
	memory, goroutines             float64
	memoryBefore, goroutinesBefore float64
}

func newPeaks() *peaks {
	p := &peaks{samples: []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/sched/goroutines:goroutines"},
	}}
	p.look()
	p.memoryBefore, p.goroutinesBefore = p.memory, p.goroutines+1 // one of them samples
	return p
}

func (p *peaks) look() {
	metrics.Read(p.samples)
	p.memory = max(p.memory, float64(p.samples[0].Value.Uint64()+p.samples[1].Value.Uint64()))
	p.goroutines = max(p.goroutines, float64(p.samples[2].Value.Uint64()))
}

func (p *peaks) watch(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.look()
		}
	}
}

// Process measures a process. The work and the written bytes include its child processes that it waited for. An error has the last lines of its
// output.
func Process(cmd *exec.Cmd) (Reading, error) {
	return process(cmd, func(output io.Writer) error {
		cmd.Stdout, cmd.Stderr = output, output
		return cmd.Run()
	})
}

// ProcessOnTerminal measures a process on a pseudo-terminal of 120 by 40 cells. Its output is read.
func ProcessOnTerminal(cmd *exec.Cmd) (Reading, error) {
	return process(cmd, func(output io.Writer) error {
		screen, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 40})
		if err != nil {
			return err
		}
		var read conc.WaitGroup
		read.Go(func() { _, _ = io.Copy(output, screen) }) // ends with the process
		err = cmd.Wait()
		read.Wait()
		return errors.Join(err, screen.Close())
	})
}

func process(cmd *exec.Cmd, run func(output io.Writer) error) (Reading, error) {
	runtime.GC()
	var output bytes.Buffer
	began := time.Now()
	err := run(&output)
	took := time.Since(began)
	if err != nil {
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
	r := Reading{results.Time: took.Seconds(), results.Work: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if peak, written := usageOf(cmd.ProcessState); peak > 0 {
		r[results.Peak], r[results.Written] = float64(peak), float64(written)
	}
	return r, nil
}
