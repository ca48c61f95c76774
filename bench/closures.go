package main

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// closures compares the delete-before-replace of a hub whose dependents are in its closure with a destroy of the same
// dependents. Both delete as many dependents at the same time as they may.
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
	const atMost = 3 // it deletes the dependents and creates them again
	f := Figure{Case: name, Size: c.dependents, Unit: milliseconds, Value: all[0].clock(time.Millisecond)}
	c.add(f.against("destroy", all[1].clock(time.Millisecond), atMost))
	return nil
}

// closing returns a probe of do on a hub with slow dependents.
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
