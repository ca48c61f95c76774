package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/bench/shape"
)

// targetGrowth is how much longer a resource may take in a stack that is ten times as large, if every step is durable.
const targetGrowth = 1.3

// growth measures updates that create everything and record it in a folder, and the same for stacks that are a tenth as
// large. The cost of recording a step must not depend on the size of the state.
func (c *collector) growth(ctx context.Context) error {
	for _, size := range c.sizes {
		const name = "process update growth"
		small := size / 10
		if small == 0 || !c.wants(name, size) {
			continue
		}
		b, err := c.processBench(ctx)
		if err != nil {
			return err
		}
		large, err := b.creating(ctx, size)
		if err != nil {
			return err
		}
		tenth, err := b.creating(ctx, small)
		if err != nil {
			return err
		}
		all, err := byTurns(ctx, c.runs, large, tenth)
		if err != nil {
			return err
		}
		each := func(rs readings, n int) Sample {
			return rs.sample(func(r reading) float64 { return float64(r.clock) / float64(time.Microsecond) / float64(n) })
		}
		f := Figure{Case: name, Size: size, Unit: perResource, Value: each(all[0], size)}
		c.add(f.against("a tenth", each(all[1], small), targetGrowth))
		bytes := func(rs readings, n int) Sample {
			return rs.sample(func(r reading) float64 { return float64(r.written) / 1024 / float64(n) })
		}
		if written, less := bytes(all[0], size), bytes(all[1], small); written.Min > 0 && less.Min > 0 {
			f := Figure{Case: name + " (written)", Size: size, Unit: kilobytes, Value: written}
			c.add(f.against("a tenth", less, targetGrowth))
		}
	}
	return nil
}

// creating returns a probe of an update that creates everything. It then destroys everything, which is not measured.
func (b *workbench) creating(ctx context.Context, size int) (probe, error) {
	stack := fmt.Sprintf("growth-%d", size)
	if err := b.stack(ctx, stack); err != nil {
		return nil, err
	}
	l := load{shape: shape.Wide, client: shape.ClientThin, size: size}
	up, down := b.sluice(stack, l, "up", "--yes", "--skip-preview"), b.sluice(stack, l, "destroy", "--yes", "--skip-preview")
	return func(ctx context.Context) (reading, error) {
		r, err := up(ctx)
		if err == nil {
			_, err = down(ctx)
		}
		return r, err
	}, nil
}
