package main

import (
	"context"
	"time"
)

// measure measures all cases, or those that the settings select.
func measure(ctx context.Context, s settings) (*Report, error) {
	began := time.Now()
	c := &collector{settings: s, report: newReport(s.runs)}
	defer c.close()
	for _, f := range []func(context.Context) error{
		c.processes, c.yamlPrograms, c.displays, c.growth, c.reads, c.startUp, c.inProcess, c.latencies, c.destroys, c.deleteBeforeReplace, c.closures,
	} {
		if err := f(ctx); err != nil {
			return nil, err
		}
	}
	c.report.Duration = time.Since(began).Round(time.Second).String()
	return c.report, nil
}
