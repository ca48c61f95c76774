package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
)

// Targets from the project's requirements.
const (
	targetFloor   = 1.5 // process preview, compared with the floor
	targetIdeal   = 1.5 // preview of existing resources of a slow provider, compared with calls/concurrency
	targetStartUp = 100 // ms: empty preview without the program
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

// settings define what is measured.
type settings struct {
	sizes      []int    // resources in a stack
	shapes     []string // of stacks
	runs       int      // of each figure
	existing   int      // resources in the latency case
	dependents int      // of the delete-before-replace
	checkpoint int      // megabytes of the state that is read
	only       *regexp.Regexp
	log        io.Writer // progress
}

// collector adds the figures of cases to a report.
type collector struct {
	settings
	report *Report
	bench  *workbench // nil until a case needs processes
}

func (c *collector) close() {
	if c.bench != nil {
		c.bench.close()
	}
}

// wants reports whether a case is selected. If so, it logs the case.
func (c *collector) wants(name string, size int) bool {
	if !c.only.MatchString(name) {
		return false
	}
	fmt.Fprintf(c.log, "%s (%d)\n", name, size)
	return true
}

func (c *collector) add(f Figure) { c.report.Figures = append(c.report.Figures, f) }

// processBench returns the workbench. It builds the programs when a case first needs them.
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
