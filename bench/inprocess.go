package main

import (
	"context"
	"runtime"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// deployment is a stack in memory with the cloud that it manages.
type deployment struct {
	cloud *providertest.Cloud
	state *sluice.MemoryState
}

func newDeployment(o providertest.Options) *deployment {
	return &deployment{cloud: providertest.NewCloud(o), state: &sluice.MemoryState{}}
}

func (d *deployment) options(p source.Program) sluice.Options {
	return sluice.Options{Stack: "dev", Project: "bench", Program: p, Providers: d.cloud.Host(), State: d.state}
}

// created returns a deployment in which everything that p declares exists.
func created(ctx context.Context, o providertest.Options, p source.Program) (*deployment, error) {
	d := newDeployment(o)
	options := d.options(p)
	options.Parallel = 256
	_, err := sluice.Update(ctx, options)
	return d, err
}

// inProcess measures the engine's own cost of a resource, with a provider that answers at once.
func (c *collector) inProcess(ctx context.Context) error {
	for _, size := range c.sizes {
		for _, s := range c.shapes {
			if err := c.engineWork(ctx, s, size); err != nil {
				return err
			}
		}
		if err := c.memory(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) engineWork(ctx context.Context, shape string, size int) error {
	p := stackProgram(shape, size, nil)
	name := "engine preview new " + shape
	if c.wants(name, size) {
		if err := c.workOfPreviews(ctx, name, size, p, func() *deployment { return newDeployment(providertest.Options{}) }); err != nil {
			return err
		}
	}
	name = "engine preview same " + shape
	if !c.wants(name, size) {
		return nil
	}
	d, err := created(ctx, providertest.Options{}, p)
	if err != nil {
		return err
	}
	return c.workOfPreviews(ctx, name, size, p, func() *deployment { return d })
}

// workOfPreviews adds the processor time for one resource, and the elapsed time, which is smaller if processors are
// idle and larger if other processes use them.
func (c *collector) workOfPreviews(ctx context.Context, name string, size int, p source.Program, of func() *deployment) error {
	runs, err := repeat(ctx, c.runs, func(ctx context.Context) (reading, error) {
		d := of()
		return timed(func() error { _, err := sluice.Preview(ctx, d.options(p)); return err })
	})
	if err != nil {
		return err
	}
	unit := time.Microsecond * time.Duration(size)
	clock := Figure{Case: name, Size: size, Unit: perResource, Value: runs.clock(unit), Target: targetWork}
	if work, known := runs.work(unit); known {
		clock.Target = noTarget
		c.add(Figure{Case: name + " (work)", Size: size, Unit: perResource, Value: work, Target: targetWork})
	}
	c.add(clock)
	return nil
}

// memory measures the memory in use at the end of an update, for each resource: the difference between a small stack
// and a large one. It includes the records of the program and of the cloud.
func (c *collector) memory(ctx context.Context, size int) error {
	const name = "memory of an update"
	if !c.wants(name, size) {
		return nil
	}
	small := max(1, size/10)
	values := make([]float64, c.runs)
	for i := range values {
		less, err := liveAfterUpdate(ctx, small)
		if err != nil {
			return err
		}
		more, err := liveAfterUpdate(ctx, size+small)
		if err != nil {
			return err
		}
		values[i] = (more - less) / 1024 / float64(size)
	}
	c.add(Figure{Case: name, Size: size, Unit: kilobytes, Value: sampleOf(values), Target: targetMemory})
	return nil
}

// liveAfterUpdate returns the bytes that are in use when the last event of an update arrives.
func liveAfterUpdate(ctx context.Context, size int) (float64, error) {
	d := newDeployment(providertest.Options{})
	options := d.options(stackProgram("wide", size, nil))
	before, after := live(), 0.0
	options.Observe = func(e stages.Event) {
		if _, last := e.(stages.Ended); last {
			after = live()
		}
	}
	_, err := sluice.Update(ctx, options)
	runtime.KeepAlive(d)
	return after - before, err
}

func live() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) + float64(m.StackInuse)
}
