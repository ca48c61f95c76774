package processes

import (
	"context"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

// Targets from the project's requirements: for previews of new stacks, compared with the floor and with Pulumi, whose time is a fixed part and a part
// for each resource; and for operations that wait for the disk at each step.
const (
	targetFloor        = 1.15
	targetFloorMany    = 1.2
	targetFloorThin    = 1.5 // with a program that does little itself
	targetPulumi       = 1.0 / 4
	targetPulumiMany   = 1.0 / 8
	targetMemory       = 1.0 / 4
	targetUpdate       = 1.0 / 40
	targetUpdateLarger = 1.0 / 100
	targetDestroy      = 1.0 / 40
	targetStartUp      = 0.1 // seconds: an empty preview without the program

	larger = 3_000 // the number of resources from which the higher target applies to an update
	many   = 10_000
)

// preview previews a new stack.
func (p *Processes) preview(ctx context.Context, r *runner.Runner, l load) error {
	k := results.Key{Case: "process preview " + l.client, Shape: l.shape, Size: l.size}
	if !r.Wants(k) {
		return nil
	}
	contenders, err := p.rivals(ctx, r, l.client, "preview-"+l.name(), previewTargets(l), func(c command) probe { return c(l, "preview") })
	if len(contenders) == 0 {
		return err
	}
	if frontOf(l.client).alone != nil {
		contenders = append(contenders, runner.Contender{Subject: results.Floor, Probe: p.workbench.floor(l, true)})
	}
	return r.Measure(ctx, k, contenders...)
}

func previewTargets(l load) []results.Target {
	floor, pulumi := targetFloor, targetPulumi
	if l.size >= many {
		floor, pulumi = targetFloorMany, targetPulumiMany
	}
	if l.client == shape.ClientThin {
		floor = targetFloorThin
	}
	targets := []results.Target{{Metric: results.Time, Versus: results.Floor, AtMost: floor}}
	if l.client == shape.ClientSDK || l.client == shape.ClientThin {
		targets = append(targets, results.Target{Metric: results.Time, Versus: Pulumi, AtMost: pulumi})
	}
	if l.size >= many {
		targets = append(targets, results.Target{Metric: results.Peak, Versus: Pulumi, AtMost: targetMemory})
	}
	return targets
}

// updates measures an update that creates everything, an update that changes nothing, and a destroy. A contender that is not measured in a run still
// does the other operations.
func (p *Processes) updates(ctx context.Context, r *runner.Runner, l load) error {
	up, down := []string{"up", "--yes", "--skip-preview"}, []string{"destroy", "--yes", "--skip-preview"}
	update := targetUpdate
	if l.size >= larger {
		update = targetUpdateLarger
	}
	operations := []struct {
		name   string
		atMost float64 // the fraction of Pulumi's time; 0 means no target
		of     func(command) probe
	}{
		{"update", update, func(c command) probe { return c(l, up...).then(c(l, down...)) }},
		{"update same", 0, func(c command) probe { return c(l, up...).after(c(l, up...)).then(c(l, down...)) }},
		{"destroy", targetDestroy, func(c command) probe { return c(l, down...).after(c(l, up...)) }},
	}
	for _, o := range operations {
		k := results.Key{Case: "process " + o.name + " " + l.client, Shape: l.shape, Size: l.size}
		if !r.Wants(k) {
			continue
		}
		var targets []results.Target
		if o.atMost > 0 {
			targets = []results.Target{{Metric: results.Time, Versus: Pulumi, AtMost: o.atMost}}
		}
		contenders, err := p.rivals(ctx, r, l.client, "update-"+l.name(), targets, o.of)
		if err != nil {
			return err
		}
		if len(contenders) == 0 {
			continue
		}
		if o.name == "update" && frontOf(l.client).alone != nil {
			contenders = append(contenders, runner.Contender{Subject: results.Floor, Probe: p.workbench.floor(l, false)})
		}
		if err := r.Measure(ctx, k, contenders...); err != nil {
			return err
		}
	}
	return nil
}

// startUp measures a preview of a program that declares nothing, without the time of the program itself.
func (p *Processes) startUp(ctx context.Context, r *runner.Runner) error {
	k := results.Key{Case: "process start-up"}
	if !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	const stack = "start-up"
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	nothing := load{shape: shape.Wide, client: shape.ClientThin}
	whole, alone := b.sluice(stack, nothing, "preview"), b.timing(nothing, b.executable("program"))
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, AtMost: targetStartUp}},
		Probe: func(ctx context.Context) (meter.Reading, error) {
			program, err := alone(ctx)
			if err != nil {
				return nil, err
			}
			all, err := whole(ctx)
			if err != nil {
				return nil, err
			}
			all[results.Time] = max(0, all[results.Time]-program[results.Time])
			all[results.Work] = max(0, all[results.Work]-program[results.Work])
			return all, nil
		},
	})
}
