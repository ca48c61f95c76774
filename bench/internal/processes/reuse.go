package processes

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

// Targets for what is not asked again.
const (
	targetUnasked   = 1.2      // an unchanged preview, compared with the program alone
	targetPreviewed = 0.6      // an update after its own preview, compared with one that asks everything again
	targetOne       = 1.3      // an update of one resource, compared with the program alone
	targetReread    = 1.0 / 20 // a preview that reads what can matter, compared with one that reads everything
)

// reuse measures operations that use the answers of earlier ones, with a plugin whose calls are slow.
func (p *Processes) reuse(ctx context.Context, r *runner.Runner, size int) error {
	up := []string{"up", "--yes"}
	fill := append(up, "--skip-preview", "--parallel", "256")
	thin := func(changed int) load {
		return load{shape: shape.Wide, client: shape.ClientThin, size: size, changed: changed}
	}
	for _, client := range []string{shape.ClientThin, shape.ClientNode} {
		l := load{shape: shape.Wide, client: client, size: size}
		err := p.reused(ctx, r, "process preview known", l, func(b *workbench, c command) []runner.Contender {
			preview := c(l, "preview", "--incremental", "--expect-no-changes")
			return []runner.Contender{
				{
					Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, Versus: results.Alone, AtMost: targetUnasked}},
					Probe: preview.once(c(l, fill...), preview),
				},
				{Subject: results.Alone, Probe: b.alone(l, true)},
			}
		})
		if err != nil {
			return err
		}
	}
	err := p.reused(ctx, r, "process up changed", thin(size), func(_ *workbench, c command) []runner.Contender {
		update := func(flags ...string) probe { return c(thin(size), append(up, flags...)...).after(c(thin(0), fill...)) }
		return []runner.Contender{
			{
				Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, Versus: results.Again, AtMost: targetPreviewed}},
				Probe: update("--parallel", "256"),
			},
			{Subject: results.Again, Probe: update("--parallel", "256", "--no-incremental")},
		}
	})
	if err != nil {
		return err
	}
	err = p.reused(ctx, r, "process up one", thin(1), func(b *workbench, c command) []runner.Contender {
		return []runner.Contender{
			{
				Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, Versus: results.Alone, AtMost: targetOne}},
				Probe: c(thin(1), append(up, "--incremental")...).after(c(thin(0), append(fill, "--incremental")...), c(thin(0), "preview", "--incremental")),
			},
			{Subject: results.Alone, Probe: b.alone(thin(1), false)},
		}
	})
	if err != nil {
		return err
	}
	hundredth := thin(max(1, size/100))
	return p.reused(ctx, r, "process preview read", hundredth, func(_ *workbench, c command) []runner.Contender {
		preview := func(flag string) probe {
			return c(hundredth, "preview", "--incremental", flag).once(c(thin(0), fill...))
		}
		return []runner.Contender{
			{
				Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, Versus: results.All, AtMost: targetReread}},
				Probe: preview("--refresh=changed"),
			},
			{Subject: results.All, Probe: preview("--refresh")},
		}
	})
}

// reused measures a case on a stack of its own whose plugin is installed and slow.
func (p *Processes) reused(ctx context.Context, r *runner.Runner, name string, l load, contenders func(*workbench, command) []runner.Contender) error {
	k := results.Key{Case: name + " " + l.client, Shape: l.shape, Latency: slowness.String(), Size: l.size}
	f := frontOf(l.client)
	if !r.Wants(k) || !p.peers.interpreter(ctx, f.interpreter) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	if err := b.front(ctx, f); err != nil {
		return err
	}
	stack := fmt.Sprintf("%s-%d", strings.ReplaceAll(k.Case, " ", "-"), l.size)
	sluice := func(l load, args ...string) probe {
		return b.in(l, b.project(l.client), b.installed(l), b.tool("sluice"), append(args, "--non-interactive")...)
	}
	c := func(l load, args ...string) probe { return sluice(l, append(args, "--stack", stack)...) }
	install := sluice(l, "plugin", "install", "resource", "simple", "1.0.0", "--file", b.executable("pulumi-resource-simple"))
	objects := c(l, "config", "set", "simple:directory", filepath.Join(b.directory, "cloud-"+stack)) // the next process reads and updates them
	if err := install.then(sluice(l, "stack", "select", "--create", stack), slowly(c, l, slowness), objects).run(ctx); err != nil {
		return err
	}
	return r.Measure(ctx, k, contenders(b, c)...)
}
