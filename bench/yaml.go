package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// targetYAML is the time for each resource of a YAML program in a process preview: two seconds for 10,000 resources.
const targetYAML = 200 // µs

// yamlPrograms measures previews of YAML programs, which sluice evaluates itself, with the provider sim in the same
// process.
func (c *collector) yamlPrograms(ctx context.Context) error {
	for _, size := range c.sizes {
		const name = "process preview yaml"
		if !c.wants(name, size) {
			continue
		}
		b, err := c.processBench(ctx)
		if err != nil {
			return err
		}
		directory := filepath.Join(b.directory, fmt.Sprintf("yaml-%d", size))
		if err := os.Mkdir(directory, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(directory, "Pulumi.yaml"), []byte(yamlProgram(size)), 0o644); err != nil {
			return err
		}
		const stack = "yaml"
		in := func(args ...string) probe {
			return b.timing(load{}, b.executable("sluice"), append(args, "--non-interactive", "--cwd", directory)...)
		}
		if _, err := in("stack", "init", stack)(ctx); err != nil {
			return err
		}
		runs, err := repeat(ctx, c.runs, in("preview", "--stack", stack))
		if err != nil {
			return err
		}
		each := time.Duration(size) * time.Microsecond
		c.add(Figure{Case: name, Size: size, Unit: perResource, Value: runs.clock(each), Target: targetYAML})
		if work, known := runs.work(each); known {
			c.add(Figure{Case: name + " (work)", Size: size, Unit: perResource, Value: work})
		}
	}
	return nil
}

// yamlProgram returns a program with size resources. All but a hundred depend on another one.
func yamlProgram(size int) string {
	var b strings.Builder
	b.WriteString("name: bench-yaml\nruntime: yaml\nconfig: {size: {type: integer, default: 3}}\nvariables: {tag: \"tag-${size}\"}\nresources:\n")
	for i := range size {
		fmt.Fprintf(&b, "  r%d:\n    type: sim:Resource\n    properties:\n      properties:\n        name: r%d-${tag}\n        size: ${size}\n", i, i)
		if i >= 100 {
			fmt.Fprintf(&b, "        network: ${r%d.id}\n", i%100)
		}
	}
	return b.String()
}
