package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func newStackGraphCommand(open *session.Opener, stack *string) *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "graph [file]",
		Short: "Write the graph of resources in the language of Graphviz",
		Long: "Write the resources of a stack and their dependencies in the language of Graphviz, to a file or to the standard\n" +
			"output. Edges point from a resource to those that depend on it, with the names of the properties that use it, and from a\n" +
			"child to its parent.\n\n" +
			"With --waves, resources that a destroy would delete in one wave are drawn at one level, beside the number of the wave.\n" +
			"No resource of a wave depends on another one in it, and wave 1 is deleted first. Resources that a destroy only removes\n" +
			"from the state are at no level.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return graphStack(cmd.Context(), open, *stack, args, f)
		},
	}
	cmd.Flags().BoolVar(&f.noParents, "ignore-parent-edges", false, "leave the edges from children to parents out")
	cmd.Flags().BoolVar(&f.noDependencies, "ignore-dependency-edges", false, "leave the edges of dependencies out")
	cmd.Flags().StringVar(&f.dependencyColor, "dependency-edge-color", "#246C60", "the colour of dependencies")
	cmd.Flags().StringVar(&f.parentColor, "parent-edge-color", "#AA6639", "the colour of edges to parents")
	cmd.Flags().BoolVar(&f.shortNames, "short-node-name", false, "label resources with their names instead of their URNs")
	cmd.Flags().BoolVar(&f.waves, "waves", false, "draw resources that a destroy would delete in one wave at one level")
	cmd.Flags().StringVar(&f.fragment, "dot-fragment", "", "write this text at the top of the graph, such as rankdir=LR;")
	return cmd
}

type graphFlags struct {
	noParents, noDependencies, shortNames, waves bool
	dependencyColor, parentColor, fragment       string
}

func graphStack(ctx context.Context, open *session.Opener, name string, args []string, f graphFlags) error {
	s, err := open.State(ctx, name)
	if err != nil {
		return err
	}
	snapshot, err := s.State.LoadSealed(ctx)
	if err != nil {
		return err
	}
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	if len(args) == 0 || args[0] == "-" {
		return writeGraph(open.Terminal.Data(), snapshot, f)
	}
	file, err := os.Create(args[0])
	if err != nil {
		return err
	}
	if err := errors.Join(writeGraph(file, snapshot, f), file.Close()); err != nil {
		return err
	}
	if form := formEndings[strings.ToLower(filepath.Ext(args[0]))]; form != "" && form != formDOT && !open.Terminal.AsPulumi {
		open.Terminal.Warn("%s is in the language of Graphviz, whatever its name: `sluice graph %s` writes %s", args[0], format.ShellQuote(args[0]), strings.ToUpper(form))
	}
	_, err = fmt.Fprintf(open.Terminal.Out, "Wrote the graph to %s\n", args[0])
	return err
}

func writeGraph(w io.Writer, s *state.Snapshot, f graphFlags) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "strict digraph {")
	if f.fragment != "" {
		fmt.Fprintln(out, f.fragment)
	}
	nodes := map[string]string{}
	for i, r := range s.Resources {
		nodes[string(r.URN)] = fmt.Sprintf("Resource%d", i)
		label := string(r.URN)
		if f.shortNames {
			label = r.URN.Name()
		}
		fmt.Fprintf(out, "    Resource%d [label=%q];\n", i, label)
	}
	for i, r := range s.Resources {
		if !f.noDependencies {
			for _, d := range r.Dependencies {
				if from, ok := nodes[string(d)]; ok {
					label := ""
					if names := propertiesFrom(r, d); len(names) > 0 {
						label = fmt.Sprintf(", label = %q", strings.Join(names, ", "))
					}
					fmt.Fprintf(out, "    %s -> Resource%d [color = %q%s];\n", from, i, f.dependencyColor, label)
				}
			}
		}
		if parent, ok := nodes[string(r.Parent)]; ok && !f.noParents {
			free := ""
			if f.waves {
				free = ", constraint = false" // a parent is deleted after its children
			}
			fmt.Fprintf(out, "    Resource%d -> %s [color = %q%s];\n", i, parent, f.parentColor, free)
		}
	}
	if f.waves {
		if err := writeWaves(out, s); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// propertiesFrom returns the names of the properties of a resource that use another one, sorted.
func propertiesFrom(r *state.Resource, of urn.URN) (names []string) {
	for name, from := range r.PropertyDependencies {
		if slices.Contains(from, of) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// writeWaves puts the resources of each wave of deletion on one rank. Edges run from a resource to its dependents, so
// the last wave is at the top.
func writeWaves(out io.Writer, s *state.Snapshot) error {
	waves, err := sluice.DestroyWaves(s)
	if err != nil {
		return err
	}
	at := make(map[*state.Resource]int, len(s.Resources))
	for i, r := range s.Resources {
		at[r] = i
	}
	for i, wave := range waves {
		fmt.Fprintf(out, "    Wave%d [label=\"wave %[1]d\", shape=plaintext];\n", i+1)
		if i > 0 {
			fmt.Fprintf(out, "    Wave%d -> Wave%d [style=invis];\n", i+1, i)
		}
		fmt.Fprintf(out, "    { rank=same; Wave%d;", i+1)
		for _, r := range wave {
			fmt.Fprintf(out, " Resource%d;", at[r])
		}
		fmt.Fprintln(out, " }")
	}
	return nil
}
