package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// targetDisplay is how much longer an update may take if it is drawn on a terminal.
const targetDisplay = 1.03

// displays measures updates of a YAML program that are drawn on a terminal, and those of which only a line of JSON is written at the end. Everything runs
// in one process, so that nothing hides what the display takes.
func (c *collector) displays(ctx context.Context) error {
	for _, size := range c.sizes {
		const name = "process update drawn"
		if runtime.GOOS == "windows" || !c.wants(name, size) { // it has no pseudo-terminals
			continue
		}
		b, err := c.processBench(ctx)
		if err != nil {
			return err
		}
		directory := filepath.Join(b.directory, fmt.Sprintf("drawn-%d", size))
		if err := os.Mkdir(directory, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(directory, "Pulumi.yaml"), []byte(yamlProgram(size)), 0o644); err != nil {
			return err
		}
		in := func(args ...string) probe {
			return b.timing(load{}, b.executable("sluice"), append(args, "--non-interactive", "--cwd", directory)...)
		}
		if _, err := in("stack", "init", "drawn")(ctx); err != nil {
			return err
		}
		destroy := in("destroy", "--yes", "--skip-preview", "--stack", "drawn")
		update := func(flags ...string) probe {
			return func(ctx context.Context) (reading, error) {
				r, err := b.runOnTerminal(ctx, load{}, b.executable("sluice"), append(flags, "up", "--yes", "--stack", "drawn", "--cwd", directory)...)
				if err == nil {
					_, err = destroy(ctx)
				}
				return r, err
			}
		}
		all, err := byTurns(ctx, c.runs, update(), update("--output", "json"))
		if err != nil {
			return err
		}
		c.compare(name, size, all[0], "nothing", all[1], targetDisplay)
		memory := func(rs readings) Sample {
			return rs.sample(func(r reading) float64 { return float64(r.peak) / 1000 / float64(size) })
		}
		f := Figure{Case: name + " (peak)", Size: size, Unit: kilobytes, Value: memory(all[0])}
		c.add(f.against("nothing", memory(all[1]), noTarget))
	}
	return nil
}
