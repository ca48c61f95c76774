package processes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

// Processes measures processes. Close removes what it has made.
type Processes struct {
	workbench *workbench // nil until a case needs it
	peers     peers
}

// New returns cases for a runner. A peer is looked for when a case needs it.
func New(r *runner.Runner) *Processes {
	return &Processes{peers: peers{report: r.Report, found: map[string]*peer{}}}
}

// Close removes the folder with all files.
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

// command returns a probe of a command line on the stack of a case, with a program that declares l.
type command func(l load, args ...string) probe

// rivals makes the project of a client and a stack for each of its contenders, sluice and Pulumi, and returns them. of selects the measured part of a
// command line. rivals returns nil if the interpreter of the client is missing, which the report then lists.
func (p *Processes) rivals(
	ctx context.Context, r *runner.Runner, client, stack string, targets []results.Target, of func(command) probe, as ...setting,
) ([]runner.Contender, error) {
	f := frontOf(client)
	if !p.peers.interpreter(ctx, f.interpreter) {
		return nil, nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(b.front(ctx, f), b.stack(ctx, stack)); err != nil {
		return nil, err
	}
	contenders := []runner.Contender{{
		Subject: results.Sluice, Targets: targets,
		Probe: of(func(l load, args ...string) probe { return b.sluice(stack, l, args...) }),
	}}
	pulumi, ok := p.peers.find(ctx, Pulumi, f.language)
	if !ok {
		return contenders, nil
	}
	for _, s := range append([]setting{{}}, as...) {
		name := stack + s.suffix
		if err := b.pulumiStack(ctx, pulumi, name); err != nil {
			return nil, err
		}
		contenders = append(contenders, runner.Contender{
			Subject: Pulumi + s.suffix,
			Probe:   of(func(l load, args ...string) probe { return b.pulumi(pulumi, name, l, s, args...) }),
		})
	}
	return contenders, nil
}

// targetDisplay is the factor by which an update may be slower if it is drawn on a terminal.
const targetDisplay = 1.03

// displays measures updates of a YAML program that are drawn on a terminal, and updates that only write a line of JSON at the end. Everything runs in
// one process, so that nothing hides the cost of the display.
func (p *Processes) displays(ctx context.Context, r *runner.Runner, size int) error {
	k := results.Key{Case: "process update drawn", Size: size}
	if runtime.GOOS == "windows" || !r.Wants(k) { // Windows has no pseudo-terminals
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	directory, err := b.yamlProject(ctx, size)
	if err != nil {
		return err
	}
	in := func(args ...string) []string { return append(args, "--cwd", directory, "--stack", yamlStack) }
	destroy := b.timing(load{}, b.tool("sluice"), in("destroy", "--yes", "--skip-preview", "--non-interactive")...)
	update := func(flags ...string) probe {
		t := b.tool("sluice")
		return b.measured(t, in(append(flags, "up", "--yes")...), func(ctx context.Context, run meter.Run, args []string) (meter.Reading, error) {
			cmd := b.started(ctx, t.path, args...)
			cmd.Dir, cmd.Env = directory, append(b.temporary(b.environment(load{})), "TERM=xterm-256color", "CI=")
			return meter.ProcessOnTerminal(ctx, run, cmd)
		}).then(destroy)
	}
	return r.Measure(ctx, k,
		runner.Contender{Subject: results.Sluice, Probe: update(), Targets: []results.Target{{Metric: results.Work, Versus: results.Undrawn, AtMost: targetDisplay}}},
		runner.Contender{Subject: results.Undrawn, Probe: update("--output", "json")},
	)
}

// Measure measures all cases.
func (p *Processes) Measure(ctx context.Context, r *runner.Runner) error {
	for _, size := range r.Sizes {
		for _, s := range shape.Simple() {
			if !slices.Contains(r.Shapes, s) {
				continue
			}
			for _, f := range fronts() {
				if f.interpreter != "" && s != shape.Wide { // shapes matter to engines, and not to interpreters
					continue
				}
				l := load{shape: s, client: f.client, size: size}
				if err := p.preview(ctx, r, l); err != nil {
					return err
				}
				if err := p.updates(ctx, r, l); err != nil {
					return err
				}
			}
		}
		if err := p.configurations(ctx, r, size); err != nil {
			return err
		}
		if err := p.displays(ctx, r, size); err != nil {
			return err
		}
		if err := errors.Join(p.slow(ctx, r, size), p.reuse(ctx, r, size), p.updatesAtService(ctx, r, size)); err != nil {
			return err
		}
	}
	if err := p.slowHub(ctx, r); err != nil {
		return err
	}
	if err := errors.Join(p.startUp(ctx, r), p.nothing(ctx, r)); err != nil {
		return err
	}
	return p.reads(ctx, r)
}

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
	return r.Measure(ctx, k, append(contenders, p.workbench.yardstick(l, true, 0))...)
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
		// The floor has no state: beside an update without changes it previews, and beside a destroy it creates.
		if err := r.Measure(ctx, k, append(contenders, p.workbench.yardstick(l, o.name == "update same", 0))...); err != nil {
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
	whole, alone := b.sluice(stack, nothing, "preview"), b.timing(nothing, b.tool("program"))
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, AtMost: targetStartUp}},
		Probe: func(ctx context.Context, run meter.Run) (meter.Reading, error) {
			program, err := alone(ctx, meter.Run{})
			if err != nil {
				return meter.Reading{}, err
			}
			all, err := whole(ctx, run)
			if err != nil {
				return meter.Reading{}, err
			}
			for _, m := range []results.Metric{results.Time, results.Work} {
				all.Values[m] = max(0, all.Values[m]-program.Values[m])
			}
			return all, nil
		},
	}, b.empty())
}

// Targets for reading a checkpoint of 100 MB.
const (
	targetRead     = 2   // seconds
	targetReadPeak = 1e9 // bytes
)

// reads measures a command that reads and verifies a whole checkpoint.
func (p *Processes) reads(ctx context.Context, r *runner.Runner) error {
	k := results.Key{Case: "read a checkpoint", Subject: results.Sluice}
	if r.Checkpoint == 0 || !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("megabytes-%d", r.Checkpoint)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	if k.Size, err = b.fill(ctx, stack, r.Checkpoint); err != nil {
		return err
	}
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Probe: b.sluice(stack, load{}, "stack"),
		Targets: []results.Target{{Metric: results.Time, AtMost: targetRead}, {Metric: results.Peak, AtMost: targetReadPeak}},
	}, runner.Contender{Subject: results.Decoder, Probe: b.timing(load{}, b.tool("program"), b.megabytes())})
}

// parallelDiff makes Pulumi call Diff for several resources at once.
func parallelDiff() setting {
	return setting{suffix: "-parallel-diff", environment: []string{"PULUMI_PARALLEL_DIFF=true"}}
}

// updatesAtService measures an update that creates everything with the state at a service with slow calls, less the time of ten calls, beside the
// same with the state in a folder.
func (p *Processes) updatesAtService(ctx context.Context, r *runner.Runner, size int) (err error) {
	l := load{shape: shape.Wide, client: shape.ClientThin, size: size}
	k := results.Key{Case: "process update service thin", Shape: l.shape, Latency: serviceDelay.String(), Size: size}
	if !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	s, err := b.startService(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	up, down := []string{"up", "--yes", "--skip-preview"}, []string{"destroy", "--yes", "--skip-preview"}
	at := func(who string, t tool) (probe, error) {
		environment := append(b.environment(l), "PULUMI_HOME="+filepath.Join(b.directory, "home-service-"+who), "PULUMI_BACKEND_URL="+s.url, "PULUMI_ACCESS_TOKEN=pul-alice")
		in := func(args ...string) probe {
			return b.in(l, b.project(l.client), environment, t, append(args, "--non-interactive", "--stack", fmt.Sprintf("acme/bench/%s-%d", who, size))...)
		}
		update := in(up...).then(in(down...))
		return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
			reading, err := update(ctx, run)
			if err == nil {
				reading.Values[results.Time] = max(0, reading.Values[results.Time]-serviceCalls*serviceDelay.Seconds())
			}
			return reading, err
		}, in("stack", "init").run(ctx)
	}
	ours, err := at(results.Sluice, b.tool("sluice"))
	if err != nil {
		return err
	}
	stack := fmt.Sprintf("files-%d", size)
	if err := b.stack(ctx, stack); err != nil {
		return err
	}
	contenders := []runner.Contender{
		{Subject: results.Sluice, Probe: ours, Targets: []results.Target{{Metric: results.Time, Versus: results.Files, AtMost: targetService}}},
		{Subject: results.Files, Probe: b.sluice(stack, l, up...).then(b.sluice(stack, l, down...))},
	}
	if pulumi, ok := p.peers.find(ctx, Pulumi, frontOf(l.client).language); ok {
		theirs, err := at(Pulumi, pulumi.tool())
		if err != nil {
			return err
		}
		contenders = append(contenders, runner.Contender{Subject: Pulumi, Probe: theirs})
	}
	return r.Measure(ctx, k, contenders...)
}

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
	return r.Measure(ctx, k, append(contenders, p.workbench.yardstick(l, true, slowness))...)
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
		if err := r.Measure(ctx, k, append(contenders, p.workbench.yardstick(after, operation == "preview", hubSlowness))...); err != nil {
			return err
		}
	}
	return nil
}

// Targets for declarative programs.
const (
	targetYAML      = 200e-6 // seconds for each resource of a preview, besides the start: two seconds for 10,000
	targetOpenTofu  = 0.5    // the fraction of OpenTofu's time for an update
	targetTerraform = 1.0 / 30
	targetNothing   = 0.05 // seconds: the whole preview of a program without resources
)

// configurations measures declarative configurations: sluice evaluates YAML, with the provider sim in the same process, and Terraform and OpenTofu
// evaluate HCL with their built-in terraform_data. None of the providers does anything.
func (p *Processes) configurations(ctx context.Context, r *runner.Runner, size int) error {
	for _, operation := range []string{"preview", "update", "destroy"} {
		k := results.Key{Case: "process " + operation + " yaml", Size: size}
		if !r.Wants(k) {
			continue
		}
		b, err := p.bench(ctx)
		if err != nil {
			return err
		}
		directory, err := b.yamlProject(ctx, size)
		if err != nil {
			return err
		}
		sluice := func(args ...string) probe {
			return b.timing(load{}, b.tool("sluice"), append(args, "--non-interactive", "--cwd", directory, "--stack", yamlStack)...)
		}
		c := runner.Contender{
			Subject: results.Sluice,
			Probe:   choose(operation, sluice("preview"), sluice("up", "--yes", "--skip-preview"), sluice("destroy", "--yes", "--skip-preview")),
		}
		switch operation {
		case "preview":
			c.Targets = []results.Target{{Metric: results.Time, AtMost: targetStartUp + targetYAML*float64(size)}}
		case "update":
			c.Targets = []results.Target{{Metric: results.Time, Versus: OpenTofu, AtMost: targetOpenTofu}, {Metric: results.Time, Versus: Terraform, AtMost: targetTerraform}}
		}
		contenders := []runner.Contender{c}
		for _, name := range []string{Terraform, OpenTofu} {
			peer, ok := p.peers.find(ctx, name)
			if !ok {
				continue
			}
			directory, err := b.hclProject(ctx, peer, size)
			if err != nil {
				return err
			}
			in := func(args ...string) probe {
				return b.terraform(peer, directory, append(args, "-input=false", "-no-color")...)
			}
			contenders = append(contenders, runner.Contender{
				Subject: name, Probe: choose(operation, in("plan"), in("apply", "-auto-approve"), in("destroy", "-auto-approve")),
			})
		}
		if err := r.Measure(ctx, k, append(contenders, b.yardstick(load{size: size}, operation == "preview", 0))...); err != nil {
			return err
		}
	}
	return nil
}

// nothing measures the preview of a YAML program without resources.
func (p *Processes) nothing(ctx context.Context, r *runner.Runner) error {
	k := results.Key{Case: "process preview nothing yaml"}
	if !r.Wants(k) {
		return nil
	}
	b, err := p.bench(ctx)
	if err != nil {
		return err
	}
	directory, err := b.yamlProject(ctx, 0)
	if err != nil {
		return err
	}
	return r.Measure(ctx, k, runner.Contender{
		Subject: results.Sluice, Targets: []results.Target{{Metric: results.Time, AtMost: targetNothing}},
		Probe: b.timing(load{}, b.tool("sluice"), "preview", "--non-interactive", "--cwd", directory, "--stack", yamlStack),
	}, b.empty())
}

// choose returns a probe of one of the operations. It restores the state before the operation.
func choose(operation string, preview, update, destroy probe) probe {
	switch operation {
	case "preview":
		return preview
	case "update":
		return update.then(destroy)
	}
	return destroy.after(update)
}

const yamlStack = "yaml"
