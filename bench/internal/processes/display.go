package processes

import (
	"context"
	"os/exec"
	"runtime"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
)

// undrawn is the contender of the display: sluice with a line of JSON at the end.
const undrawn = "undrawn"

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
	destroy := b.timing(load{}, b.executable("sluice"), in("destroy", "--yes", "--skip-preview", "--non-interactive")...)
	update := func(flags ...string) probe {
		up := probe(func(ctx context.Context) (meter.Reading, error) {
			cmd := exec.CommandContext(ctx, b.executable("sluice"), in(append(flags, "up", "--yes")...)...)
			cmd.Dir, cmd.Env = directory, append(b.environment(load{}), "TERM=xterm-256color", "CI=")
			return meter.ProcessOnTerminal(cmd)
		})
		return up.then(destroy)
	}
	return r.Measure(ctx, k,
		runner.Contender{Subject: results.Sluice, Probe: update(), Targets: []results.Target{{Metric: results.Work, Versus: undrawn, AtMost: targetDisplay}}},
		runner.Contender{Subject: undrawn, Probe: update("--output", "json")},
	)
}
