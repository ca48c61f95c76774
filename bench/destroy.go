package main

import (
	"context"
	"runtime"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// destroys measures the destroy of stacks in memory, and of stacks twice as large. The time must not grow much faster
// than the stack.
func (c *collector) destroys(ctx context.Context) error {
	for _, size := range c.sizes {
		for _, s := range c.shapes {
			name := "engine destroy " + s
			if !c.wants(name, size) {
				continue
			}
			all, err := byTurns(ctx, c.runs, destroying(s, 2*size), destroying(s, size))
			if err != nil {
				return err
			}
			c.add(Figure{Case: name, Size: 2 * size, Unit: milliseconds, Value: all[0].clock(time.Millisecond)}.against("half", all[1].clock(time.Millisecond), doubling))
		}
	}
	return nil
}

func destroying(shape string, size int) probe {
	return func(ctx context.Context) (reading, error) {
		d, err := created(ctx, providertest.Options{}, stackProgram(shape, size, nil))
		if err != nil {
			return reading{}, err
		}
		runtime.GC()
		return timed(func() error { _, err := sluice.Destroy(ctx, d.options(nil)); return err })
	}
}
