package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/sluice-iac/sluice/bench/shape"
)

// processes measures whole runs of the command line on a new stack: previews, and updates of the simplest program.
func (c *collector) processes(ctx context.Context) error {
	for _, size := range c.sizes {
		for _, s := range c.shapes {
			for _, client := range []string{shape.ClientSDK, shape.ClientThin} {
				if err := c.processPreview(ctx, load{shape: s, client: client, size: size}); err != nil {
					return err
				}
			}
		}
		if err := c.processUpdate(ctx, load{shape: shape.Wide, client: shape.ClientThin, size: size}); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) processPreview(ctx context.Context, l load) error {
	name := fmt.Sprintf("process preview %s %s", l.shape, l.client)
	if !c.wants(name, l.size) {
		return nil
	}
	b, err := c.processBench(ctx)
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("preview-%s-%s-%d", l.shape, l.client, l.size)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	probes := []probe{b.sluice(stack, l, "preview"), b.floor(l)}
	pulumi, lookErr := exec.LookPath("pulumi")
	if lookErr == nil {
		probes = append(probes, b.timing(l, pulumi, "preview", "--non-interactive", "--stack", stack))
	}
	all, err := byTurns(ctx, c.runs, probes...)
	if err != nil {
		return err
	}
	c.compare(name, l.size, all[0], "floor", all[1], targetFloor)
	if lookErr == nil {
		c.compare(name, l.size, all[0], "pulumi", all[2], noTarget)
	}
	return nil
}

// compare adds two figures that compare two processes: elapsed time and processor time.
func (c *collector) compare(name string, size int, value readings, versus string, base readings, target float64) {
	f := Figure{Case: name, Size: size, Unit: milliseconds, Value: value.clock(time.Millisecond)}
	c.add(f.against(versus, base.clock(time.Millisecond), target))
	work, known := value.work(time.Millisecond)
	baseWork, baseKnown := base.work(time.Millisecond)
	if known && baseKnown {
		f = Figure{Case: name + " (work)", Size: size, Unit: milliseconds, Value: work}
		c.add(f.against(versus, baseWork, noTarget))
	}
}

// processUpdate creates all resources of a stack. The destroy that prepares the next run has a figure of its own.
func (c *collector) processUpdate(ctx context.Context, l load) error {
	name := fmt.Sprintf("process update %s %s", l.shape, l.client)
	if !c.wants(name, l.size) {
		return nil
	}
	b, err := c.processBench(ctx)
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("update-%s-%d", l.shape, l.size)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	all, err := byTurns(ctx, c.runs,
		b.sluice(stack, l, "up", "--yes", "--skip-preview"), b.sluice(stack, l, "destroy", "--yes", "--skip-preview"), b.floor(l, "-up"))
	if err != nil {
		return err
	}
	c.compare(name, l.size, all[0], "floor", all[2], noTarget)
	c.add(Figure{Case: fmt.Sprintf("process destroy %s", l.shape), Size: l.size, Unit: milliseconds, Value: all[1].clock(time.Millisecond)})
	return nil
}

// startUp measures a preview of a program that declares nothing, minus the time of the program itself.
func (c *collector) startUp(ctx context.Context) error {
	const name = "process start-up"
	if !c.wants(name, 0) {
		return nil
	}
	b, err := c.processBench(ctx)
	if err != nil {
		return err
	}
	const stack = "start-up"
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	nothing := load{shape: shape.Wide, client: "", size: 0}
	whole, alone := b.sluice(stack, nothing, "preview"), b.timing(nothing, b.executable("program"))
	runs, err := repeat(ctx, c.runs, func(ctx context.Context) (reading, error) {
		program, err := alone(ctx)
		if err != nil {
			return reading{}, err
		}
		all, err := whole(ctx)
		return reading{clock: all.clock - program.clock, work: all.work - program.work}, err
	})
	if err != nil {
		return err
	}
	c.add(Figure{Case: name, Unit: milliseconds, Value: runs.clock(time.Millisecond), Target: targetStartUp})
	return nil
}
