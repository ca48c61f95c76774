package processes

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

const (
	slowness    = 10 * time.Millisecond // of each call of the plugin
	concurrency = 512                   // calls of one kind at once
	targetIdeal = 1.2
)

// slow measures the preview of a stack in which nothing changes, with a plugin that takes its time for each Check and each Diff.
func (p *Processes) slow(ctx context.Context, r *runner.Runner, size int) error {
	k := results.Key{Case: "process preview same thin", Shape: shape.Wide, Latency: slowness.String(), Size: size}
	if !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("slow-%d", size)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	l := load{shape: shape.Wide, client: shape.ClientThin, size: size}
	for _, args := range [][]string{
		{"config", "set", "simple:delayMs", fmt.Sprint(slowness.Milliseconds())}, {"up", "--yes", "--skip-preview", "--parallel", "256"},
	} {
		if _, err := b.sluice(stack, l, args...)(ctx); err != nil {
			return err
		}
	}
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Probe: b.sluice(stack, l, "preview", "--expect-no-changes"),
		Ideal:   2 * slowness.Seconds() * max(1, float64(size)/concurrency),
		Targets: []results.Target{{Metric: results.Time, Versus: results.Ideal, AtMost: targetIdeal}},
	})
}
