package processes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

const (
	slowness         = 10 * time.Millisecond // the latency of each call of the plugin
	concurrency      = 512                   // calls of one kind at once
	targetIdeal      = 1.2
	targetSlowPulumi = 1.0 / 50 // a preview without changes, compared with Pulumi's

	hubSlowness     = 20 * time.Millisecond
	targetHubPulumi = 1.0 / 40 // a replacement of a hub with its dependents
)

// slowly adds a latency to each call of the plugin.
func slowly(c command, l load, d time.Duration) probe {
	return c(l, "config", "set", "simple:delayMs", strconv.FormatInt(d.Milliseconds(), 10))
}

// once returns a probe that runs the others before its first run.
func (p probe) once(others ...probe) probe {
	done := false
	return func(ctx context.Context) (meter.Reading, error) {
		if done {
			return p(ctx)
		}
		done = true
		return p.after(others...)(ctx)
	}
}

// slow measures the preview of a stack without changes, with a plugin whose Check and Diff are slow.
func (p *Processes) slow(ctx context.Context, r *runner.Runner, size int) error {
	l := load{shape: shape.Wide, client: shape.ClientThin, size: size}
	k := results.Key{Case: "process preview same thin", Shape: l.shape, Latency: slowness.String(), Size: size}
	if !r.Wants(k) {
		return nil
	}
	targets := []results.Target{
		{Metric: results.Time, Versus: results.Ideal, AtMost: targetIdeal}, {Metric: results.Time, Versus: Pulumi, AtMost: targetSlowPulumi},
	}
	contenders, err := p.rivals(ctx, r, l.client, fmt.Sprintf("slow-%d", size), targets, func(c command) probe {
		return c(l, "preview", "--expect-no-changes").once(slowly(c, l, slowness), c(l, "up", "--yes", "--skip-preview", "--parallel", "256"))
	}, parallelDiff())
	if err != nil {
		return err
	}
	contenders[0].Ideal = 2 * slowness.Seconds() * max(1, float64(size)/concurrency)
	return r.Measure(ctx, k, contenders...)
}

// slowHub measures the preview and the update that replace a hub, which is deleted first together with its dependents, with a slow plugin.
func (p *Processes) slowHub(ctx context.Context, r *runner.Runner) error {
	before := load{shape: shape.Hub, client: shape.ClientThin, size: r.Dependents + 1, key: "one"}
	after := before
	after.key = "two"
	targets := []results.Target{{Metric: results.Time, Versus: Pulumi, AtMost: targetHubPulumi}}
	up := []string{"up", "--yes", "--skip-preview"}
	for _, operation := range []string{"preview", "update"} {
		k := results.Key{Case: "process " + operation + " replace thin", Shape: before.shape, Latency: hubSlowness.String(), Size: r.Dependents}
		if !r.Wants(k) {
			continue
		}
		contenders, err := p.rivals(ctx, r, after.client, "hub-"+operation, targets, func(c command) probe {
			first := c(before, append(slices.Clone(up), "--parallel", "256")...).after(slowly(c, before, hubSlowness))
			if operation == "preview" {
				return c(after, "preview").once(first)
			}
			return c(after, up...).after(first)
		})
		if err != nil {
			return err
		}
		if err := r.Measure(ctx, k, contenders...); err != nil {
			return err
		}
	}
	return nil
}
