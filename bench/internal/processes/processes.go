package processes

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

// Targets from the project's requirements.
const (
	targetFloor   = 1.5  // preview, compared with the floor
	targetPulumi  = 0.25 // preview, compared with Pulumi
	targetStartUp = 0.1  // seconds: empty preview without the program
)

// Processes measures processes. Close removes what it has made.
type Processes struct {
	workbench *workbench // nil until a case needs it
	peers     peers
}

// New looks for peers.
func New(ctx context.Context, r *runner.Runner) *Processes {
	found := findPeers(ctx)
	for name, p := range found {
		r.Report.Versions[name] = p.version
	}
	for _, name := range []string{Pulumi, Terraform, OpenTofu} {
		if _, ok := found[name]; !ok {
			r.Report.Missing = append(r.Report.Missing, name)
		}
	}
	return &Processes{peers: found}
}

// Close removes the folder with everything.
func (p *Processes) Close() {
	if p.workbench != nil {
		p.workbench.close()
	}
}

// bench returns the workbench. It builds the programs when a case first needs them.
func (p *Processes) bench(ctx context.Context) (*workbench, error) {
	if p.workbench == nil {
		b, err := newWorkbench(ctx)
		if err != nil {
			return nil, err
		}
		p.workbench = b
	}
	return p.workbench, nil
}

// Measure measures all cases.
func (p *Processes) Measure(ctx context.Context, r *runner.Runner) error {
	for _, size := range r.Sizes {
		for _, s := range shape.Simple() {
			if !slices.Contains(r.Shapes, s) {
				continue
			}
			for _, client := range []string{shape.ClientSDK, shape.ClientThin} {
				if err := p.preview(ctx, r, load{shape: s, client: client, size: size}); err != nil {
					return err
				}
			}
			if err := p.updates(ctx, r, load{shape: s, client: shape.ClientThin, size: size}); err != nil {
				return err
			}
		}
		if err := p.configurations(ctx, r, size); err != nil {
			return err
		}
		if err := p.displays(ctx, r, size); err != nil {
			return err
		}
		if err := p.slow(ctx, r, size); err != nil {
			return err
		}
	}
	if err := p.startUp(ctx, r); err != nil {
		return err
	}
	return p.reads(ctx, r)
}

// preview previews a new stack.
func (p *Processes) preview(ctx context.Context, r *runner.Runner, l load) error {
	k := results.Key{Case: "process preview " + l.client, Shape: l.shape, Size: l.size}
	if !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("preview-%s-%s-%d", l.shape, l.client, l.size)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	contenders := []runner.Contender{
		{Subject: results.Sluice, Probe: b.sluice(stack, l, "preview"), Targets: []results.Target{
			{Metric: results.Time, Versus: results.Floor, AtMost: targetFloor}, {Metric: results.Time, Versus: Pulumi, AtMost: targetPulumi},
		}},
		{Subject: results.Floor, Probe: b.floor(l)},
	}
	if pulumi, ok := p.peers[Pulumi]; ok {
		if err := b.pulumiStack(ctx, pulumi, stack); err != nil {
			return err
		}
		contenders = append(contenders, runner.Contender{Subject: Pulumi, Probe: b.pulumi(pulumi, stack, l, "preview")})
	}
	return r.Measure(ctx, k, contenders...)
}

// updates measures an update that creates everything, an update that changes nothing, and a destroy. Who is not measured in a run does the
// other operations all the same.
func (p *Processes) updates(ctx context.Context, r *runner.Runner, l load) error {
	k := results.Key{Shape: l.shape, Size: l.size}
	for _, operation := range []string{"update", "update same", "destroy"} {
		k.Case = "process " + operation + " " + l.client
		if !r.Wants(k) {
			continue
		}
		b, err := p.bench(ctx)
		if err != nil {
			return err
		}
		stack := fmt.Sprintf("update-%s-%d", l.shape, l.size)
		if err := b.stack(ctx, stack); err != nil {
			return err
		}
		of := func(command func(args ...string) probe, flags ...string) probe {
			up, down := command(append([]string{"up", "--yes", "--skip-preview"}, flags...)...), command("destroy", "--yes", "--skip-preview")
			switch operation {
			case "update":
				return up.then(down)
			case "update same":
				return up.after(up).then(down)
			}
			return down.after(up)
		}
		contenders := []runner.Contender{
			{Subject: results.Sluice, Probe: of(func(args ...string) probe { return b.sluice(stack, l, args...) })},
		}
		if operation == "update" {
			contenders = append(contenders, runner.Contender{Subject: results.Floor, Probe: b.floor(l, "-up")})
		}
		if pulumi, ok := p.peers[Pulumi]; ok {
			if err := b.pulumiStack(ctx, pulumi, stack); err != nil {
				return err
			}
			contenders = append(contenders, runner.Contender{Subject: Pulumi, Probe: of(func(args ...string) probe { return b.pulumi(pulumi, stack, l, args...) })})
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
	nothing := load{shape: shape.Wide}
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
