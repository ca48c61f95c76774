package main

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// closures measures the delete-before-replace of a hub as an update, with dependents that go with it and are made again, against
// a destroy of the same dependents: both delete as many at once as may run.
func (c *collector) closures(ctx context.Context) error {
	const name = "delete-before-replace, update"
	if !c.wants(name, c.dependents) {
		return nil
	}
	all, err := byTurns(ctx, c.runs, c.closing(func(ctx context.Context, d *deployment, o sluice.Options) error {
		_, err := sluice.Update(ctx, o)
		return err
	}), c.closing(func(ctx context.Context, d *deployment, o sluice.Options) error {
		o.Program = nil
		_, err := sluice.Destroy(ctx, o)
		return err
	}))
	if err != nil {
		return err
	}
	const atMost = 3 // it deletes them and makes them again
	f := Figure{Case: name, Size: c.dependents, Unit: milliseconds, Value: all[0].clock(time.Millisecond)}
	c.add(f.against("destroy", all[1].clock(time.Millisecond), atMost))
	return nil
}

// closing makes a hub with dependents whose calls take their time, and measures what is done to it.
func (c *collector) closing(do func(context.Context, *deployment, sluice.Options) error) probe {
	return func(ctx context.Context) (reading, error) {
		changed := false
		extra := func(i int) map[string]property.Value {
			if i > 0 {
				return map[string]property.Value{"immutableHub": property.String("of this hub")}
			}
			return map[string]property.Value{"dbrKey": property.Bool(changed)}
		}
		o := providertest.Options{Latency: func(call providertest.Call) time.Duration {
			if changed {
				return probeLatency * time.Millisecond
			}
			return 0
		}}
		p := stackProgram(shape.Hub, c.dependents+1, extra)
		d, err := created(ctx, o, p)
		if err != nil {
			return reading{}, err
		}
		changed = true
		options := d.options(p)
		options.Parallel = 64
		return timed(func() error { return do(ctx, d, options) })
	}
}
