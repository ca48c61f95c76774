package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/sluice-iac/sluice/bench/shape"
)

// processes measures whole runs of the command line on a new stack: previews, and updates of the plainest program.
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
	samples, err := byTurns(ctx, c.runs, probes...)
	if err != nil {
		return err
	}
	f := Figure{Case: name, Size: l.size, Unit: milliseconds, Value: samples[0]}
	c.add(f.against("floor", samples[1], targetFloor))
	if lookErr == nil {
		c.add(f.against("pulumi", samples[2], noTarget))
	}
	return nil
}

// processUpdate creates all resources of a stack; the destroy that makes room for the next run is a figure of its own.
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
	samples, err := byTurns(ctx, c.runs,
		b.sluice(stack, l, "up", "--yes", "--skip-preview"), b.sluice(stack, l, "destroy", "--yes", "--skip-preview"), b.floor(l, "-up"))
	if err != nil {
		return err
	}
	update := Figure{Case: name, Size: l.size, Unit: milliseconds, Value: samples[0]}
	c.add(update.against("floor", samples[2], noTarget))
	c.add(Figure{Case: fmt.Sprintf("process destroy %s", l.shape), Size: l.size, Unit: milliseconds, Value: samples[1]})
	return nil
}

// startUp measures a preview of a program that declares nothing, less what that program takes by itself.
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
	sample, err := repeat(ctx, c.runs, func(ctx context.Context) (float64, error) {
		program, err := alone(ctx)
		if err != nil {
			return 0, err
		}
		all, err := whole(ctx)
		return all - program, err
	})
	if err != nil {
		return err
	}
	c.add(Figure{Case: name, Unit: milliseconds, Value: sample, Target: targetStartUp})
	return nil
}
