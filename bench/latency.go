package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// concurrency is how many calls of one kind the engine makes at the same time (stages.Check and stages.Diff).
const concurrency = 512

// ideal returns how long n resources would take that need one Check and then one Diff, if only the calls took time.
func ideal(n int) Sample {
	return computed(2 * latency * max(1, float64(n)/concurrency))
}

// latencies measures previews of existing resources of a slow provider.
func (c *collector) latencies(ctx context.Context) error {
	if name := "slow calls, in process"; c.wants(name, c.existing) {
		slow := false
		o := providertest.Options{Latency: func(call providertest.Call) time.Duration {
			if slow && (call.Method == "check" || call.Method == "diff") {
				return latency * time.Millisecond
			}
			return 0
		}}
		p := stackProgram(shape.Wide, c.existing, nil)
		d, err := created(ctx, o, p)
		if err != nil {
			return err
		}
		slow = true
		runs, err := repeat(ctx, c.runs, func(ctx context.Context) (reading, error) {
			return timed(func() error { _, err := sluice.Preview(ctx, d.options(p)); return err })
		})
		if err != nil {
			return err
		}
		c.add(Figure{Case: name, Size: c.existing, Unit: milliseconds, Value: runs.clock(time.Millisecond)}.against("ideal", ideal(c.existing), targetIdeal))
	}
	return c.slowProcess(ctx)
}

// slowProcess measures the same with processes, including the time that they take to start.
func (c *collector) slowProcess(ctx context.Context) error {
	const name, stack = "slow calls, processes", "slow"
	if !c.wants(name, c.existing) {
		return nil
	}
	b, err := c.processBench(ctx)
	if err != nil {
		return err
	}
	l := load{shape: shape.Wide, client: shape.ClientThin, size: c.existing}
	if err := b.stack(ctx, stack, fmt.Sprintf("simple:delayMs=%d", latency)); err != nil {
		return err
	}
	if _, err := b.sluice(stack, l, "up", "--yes", "--skip-preview", "--parallel", "256")(ctx); err != nil {
		return err
	}
	runs, err := repeat(ctx, c.runs, b.sluice(stack, l, "preview", "--expect-no-changes"))
	if err != nil {
		return err
	}
	c.add(Figure{Case: name, Size: c.existing, Unit: milliseconds, Value: runs.clock(time.Millisecond)}.against("ideal", ideal(c.existing), noTarget))
	return nil
}

// deleteBeforeReplace measures the preview of a replacement that has to delete the resource and its dependents first.
// The engine probes each dependent. Ideally, it probes all of them at the same time after it has called Diff for the
// first resource.
func (c *collector) deleteBeforeReplace(ctx context.Context) error {
	const name = "delete-before-replace"
	if !c.wants(name, c.dependents) {
		return nil
	}
	changed := false
	extra := func(i int) map[string]property.Value {
		if i > 0 {
			return nil
		}
		return map[string]property.Value{"dbrKey": property.Bool(changed)}
	}
	o := providertest.Options{Latency: func(call providertest.Call) time.Duration {
		if changed && call.Method == "diff" {
			return probeLatency * time.Millisecond
		}
		return 0
	}}
	p := stackProgram(shape.Hub, c.dependents+1, extra)
	d, err := created(ctx, o, p)
	if err != nil {
		return err
	}
	changed = true
	runs, err := repeat(ctx, c.runs, func(ctx context.Context) (reading, error) {
		return timed(func() error { _, err := sluice.Preview(ctx, d.options(p)); return err })
	})
	if err != nil {
		return err
	}
	const rounds = 2 // the root; then its dependents, which need no further Diff of their own
	f := Figure{Case: name, Size: c.dependents, Unit: milliseconds, Value: runs.clock(time.Millisecond)}
	c.add(f.against("ideal", computed(rounds*probeLatency), noTarget))
	c.add(f.against("one by one", computed(float64((c.dependents+1)*probeLatency)), noTarget))
	return nil
}
