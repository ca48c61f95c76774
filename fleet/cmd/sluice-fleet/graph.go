package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/worker"
)

func newGraph(g *global) *cobra.Command {
	form := "text"
	cmd := &cobra.Command{
		Use: "graph", Short: "Draw the order of the stacks", Args: arguments(0, 0),
		Long: "Draw the order of the stacks. A stack comes after another one if fleet.yaml says so (needs), or if it reads its outputs, according to\n" +
			"the recorded state (reads).",
		RunE: func(cmd *cobra.Command, _ []string) error { return drawGraph(cmd.Context(), g, form) },
	}
	cmd.Flags().StringVar(&form, "format", form, "text, dot for Graphviz, mermaid, or json")
	return cmd
}

func drawGraph(ctx context.Context, g *global, form string) error {
	f, err := g.read()
	if err != nil {
		return err
	}
	home, err := server.HomeOf(f.Root)
	if err != nil {
		return err
	}
	path, err := worker.FindSluice(g.sluice)
	if err != nil {
		return usagef("%v", err)
	}
	w, err := worker.New(ctx, f, home, path, nil)
	if err != nil {
		return err
	}
	found := map[string]run.Surveyed{}
	if err := w.Look(ctx, f.Stacks, func(name string, is run.Surveyed) { found[name] = is }); err != nil {
		return err
	}
	known := map[string]order.Known{}
	for _, s := range f.Stacks {
		if problem := found[s.Name].Problem; problem != "" {
			fmt.Fprintf(errs(), "warning: the references of %s are unknown: %s\n", s.Name, problem)
		}
		known[s.Name] = found[s.Name].Known
	}
	o, err := order.Of(f.Stacks, known)
	if err != nil {
		return err
	}
	return writeGraph(out(), o, form)
}

func writeGraph(out io.Writer, o *order.Order, form string) error {
	switch form {
	case "text":
		return writeLayers(out, o)
	case "dot":
		return o.DOT(out)
	case "mermaid":
		fmt.Fprintln(out, "graph BT")
		ids := map[string]int{}
		for _, layer := range o.Layers() {
			for _, name := range layer {
				ids[name] = len(ids)
				fmt.Fprintf(out, "  n%d[\"%s\"]\n", ids[name], name)
			}
		}
		for _, e := range o.Edges() {
			fmt.Fprintf(out, "  n%d -->|%s| n%d\n", ids[e.From], strings.Join(e.Why, ", "), ids[e.To])
		}
		return nil
	case "json":
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Layers [][]string   `json:"layers"`
			Edges  []order.Edge `json:"edges"`
		}{o.Layers(), o.Edges()})
	}
	return usagef("--format %s: write text, dot, mermaid or json", form)
}

// writeLayers writes each layer with the dependencies of its stacks.
func writeLayers(out io.Writer, o *order.Order) error {
	after := map[string][]string{}
	for _, e := range o.Edges() {
		after[e.From] = append(after[e.From], fmt.Sprintf("%s %s", strings.Join(e.Why, " and "), e.To))
	}
	for i, layer := range o.Layers() {
		fmt.Fprintf(out, "%d\n", i+1)
		for _, name := range layer {
			line := "  " + name
			if len(after[name]) > 0 {
				line += ": " + strings.Join(after[name], ", ")
			}
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
		}
	}
	return nil
}
