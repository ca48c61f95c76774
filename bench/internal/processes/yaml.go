package processes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
)

// Targets for declarative programs.
const (
	targetYAML      = 200e-6 // seconds for each resource of a preview, besides the start: two seconds for 10,000
	targetOpenTofu  = 0.5    // the fraction of OpenTofu's time for an update
	targetTerraform = 1.0 / 30
	targetNothing   = 0.05 // seconds: the whole preview of a program without resources
)

// networks is how many resources of a configuration have no dependency; the others depend on one of them.
const networks = 100

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
			return b.timing(load{}, b.executable("sluice"), append(args, "--non-interactive", "--cwd", directory, "--stack", yamlStack)...)
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
			peer, ok := p.peers[name]
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
		if err := r.Measure(ctx, k, contenders...); err != nil {
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
		Probe: b.timing(load{}, b.executable("sluice"), "preview", "--non-interactive", "--cwd", directory, "--stack", yamlStack),
	})
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

// yamlProject makes a missing project with a YAML program and a stack, and returns its directory.
func (b *workbench) yamlProject(ctx context.Context, size int) (string, error) {
	directory := filepath.Join(b.directory, fmt.Sprintf("yaml-%d", size))
	if !fresh(directory) {
		return directory, nil
	}
	if err := writeFile(directory, "Pulumi.yaml", yamlProgram(size)); err != nil {
		return "", err
	}
	_, err := b.timing(load{}, b.executable("sluice"), "stack", "init", yamlStack, "--non-interactive", "--cwd", directory)(ctx)
	return directory, err
}

// hclProject makes a missing directory with a configuration for a peer.
func (b *workbench) hclProject(ctx context.Context, p peer, size int) (string, error) {
	directory := filepath.Join(b.directory, fmt.Sprintf("%s-%d", p.name, size))
	if !fresh(directory) {
		return directory, nil
	}
	if err := writeFile(b.directory, "terraform.rc", ""); err != nil {
		return "", err
	}
	if err := writeFile(directory, "main.tf", hclProgram(size)); err != nil {
		return "", err
	}
	_, err := b.terraform(p, directory, "init", "-input=false", "-no-color")(ctx)
	return directory, err
}

func fresh(directory string) bool {
	_, err := os.Stat(directory)
	return err != nil
}

func writeFile(directory, name, text string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644)
}

// yamlProgram returns a program with size resources.
func yamlProgram(size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench-yaml-%d\n", size)
	b.WriteString("runtime: yaml\nconfig: {size: {type: integer, default: 3}}\nvariables: {tag: \"tag-${size}\"}\nresources:\n")
	for i := range size {
		fmt.Fprintf(&b, "  r%d:\n    type: sim:Resource\n    properties:\n      properties:\n        name: r%d-${tag}\n        size: ${size}\n", i, i)
		if i >= networks {
			fmt.Fprintf(&b, "        network: ${r%d.id}\n", i%networks)
		}
	}
	return b.String()
}

// hclProgram returns a configuration with the same resources.
func hclProgram(size int) string {
	var b strings.Builder
	b.WriteString("variable \"size\" { default = 3 }\nlocals { tag = \"tag-${var.size}\" }\n")
	for i := range size {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = {\n    name = \"r%d-${local.tag}\"\n    size = var.size\n", i, i)
		if i >= networks {
			fmt.Fprintf(&b, "    network = terraform_data.r%d.id\n", i%networks)
		}
		b.WriteString("  }\n}\n")
	}
	return b.String()
}
