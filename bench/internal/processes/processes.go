package processes

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
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
			r.Report.Miss(name)
		}
	}
	return &Processes{peers: found}
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
	if !found(f.interpreter) {
		r.Report.Miss(f.interpreter)
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
	pulumi, ok := p.peers[Pulumi]
	if ok && !found(f.language) {
		r.Report.Miss(f.language)
		ok = false
	}
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
