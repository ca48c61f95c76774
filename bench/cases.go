package main

import (
	"context"
	"fmt"
	"time"
)

// Targets, from the project's requirements.
const (
	targetFloor   = 1.5 // whole-process preview, over the floor
	targetIdeal   = 1.5 // preview of existing resources of a slow provider, over calls/concurrency
	targetStartUp = 100 // ms: empty preview, program aside
	targetWork    = 100 // µs of engine work for a resource
	targetMemory  = 20  // KB for a small resource
	doubling      = 2.5 // how much longer twice as many resources may take
	noTarget      = 0
)

const (
	latency      = 10 // ms of each Check and Diff in the latency cases
	probeLatency = 20 // ms of each Diff in the delete-before-replace
)

// Units of figures.
const (
	milliseconds = "ms"
	perResource  = "µs/resource"
	kilobytes    = "KB/resource"
)

// collector adds the figures of cases to a report.
type collector struct {
	settings
	report *Report
	bench  *workbench // nil until a case needs processes
}

func measure(ctx context.Context, s settings) (*Report, error) {
	began := time.Now()
	c := &collector{settings: s, report: newReport(s.runs)}
	defer c.close()
	for _, f := range []func(context.Context) error{
		c.processes, c.yamlPrograms, c.growth, c.reads, c.startUp, c.inProcess, c.latencies, c.destroys, c.deleteBeforeReplace,
	} {
		if err := f(ctx); err != nil {
			return nil, err
		}
	}
	c.report.Duration = time.Since(began).Round(time.Second).String()
	return c.report, nil
}

func (c *collector) close() {
	if c.bench != nil {
		c.bench.close()
	}
}

// wants tells whether a case is to be measured, and says that it is.
func (c *collector) wants(name string, size int) bool {
	if !c.only.MatchString(name) {
		return false
	}
	fmt.Fprintf(c.log, "%s (%d)\n", name, size)
	return true
}

func (c *collector) add(f Figure) { c.report.Figures = append(c.report.Figures, f) }

// processBench builds the programs the first time that a case needs them.
func (c *collector) processBench(ctx context.Context) (*workbench, error) {
	if c.bench == nil {
		b, err := newWorkbench(ctx)
		if err != nil {
			return nil, err
		}
		c.bench = b
	}
	return c.bench, nil
}
