package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
)

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
	})
}

// fill imports a state into a stack so that its file has size megabytes, and returns the number of resources. Each
// resource depends on the one before.
func (b *workbench) fill(ctx context.Context, stack string, size int) (int, error) {
	const module = "urn:pulumi:%s::bench::simple:index:Thing::thing-%06d"
	root := fmt.Sprintf("urn:pulumi:%s::bench::pulumi:pulumi:Stack::bench-%[1]s", stack)
	provider := fmt.Sprintf("urn:pulumi:%s::bench::pulumi:providers:simple::default", stack)
	const providerID = "0f1e2d3c-4b5a-4697-8877-665544332211"
	inputs := map[string]any{
		"name": "thing", "count": 17, "enabled": true, "tags": map[string]any{"team": "payments", "stage": stack},
		"ports": []any{80, 443, 8080}, "description": strings.Repeat("some words that somebody has written ", 6),
	}
	resources := []any{
		map[string]any{"urn": root, "custom": false, "type": "pulumi:pulumi:Stack"},
		map[string]any{"urn": provider, "custom": true, "id": providerID, "type": "pulumi:providers:simple"},
	}
	each := 0
	for n := 0; n == 0 || n*each < size*1_000_000; n++ {
		r := map[string]any{
			"urn": fmt.Sprintf(module, stack, n), "custom": true, "id": fmt.Sprintf("thing-%06d", n), "type": "simple:index:Thing",
			"inputs": inputs, "outputs": inputs, "parent": root, "provider": provider + "::" + providerID,
		}
		if n > 0 {
			r["dependencies"] = []any{fmt.Sprintf(module, stack, n-1)}
			r["propertyDependencies"] = map[string]any{"name": r["dependencies"]}
		}
		if n == 1 {
			text, err := json.Marshal(r)
			if err != nil {
				return 0, err
			}
			each = len(text)
		}
		resources = append(resources, r)
	}
	text, err := json.Marshal(map[string]any{"version": 3, "deployment": map[string]any{"resources": resources}})
	if err != nil {
		return 0, err
	}
	file := filepath.Join(b.directory, "megabytes.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return 0, err
	}
	_, err = b.sluice(stack, load{}, "stack", "import", "--file", file)(ctx)
	return len(resources), err
}
