package main

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// lister lists what may be written at a place of the command line.
type lister func(ctx context.Context, cmd *cobra.Command) ([]string, error)

// complete makes shells complete stacks, settings, resources and the like.
func (c *cli) complete(root *cobra.Command) {
	flags := map[string]lister{
		"stack": c.listStackNames, "color": words("always", "auto", "never", "raw"), "checkpoint": words("end", "every-step", "timed"),
		"target": c.listURNs, "exclude": c.listURNs, "replace": c.listURNs, "target-replace": c.listURNs,
	}
	one := map[string]lister{
		"stack select": c.listStackNames, "stack rm": c.listStackNames, "stack output": c.listOutputs,
		"config get": c.listSettings, "config rm": c.listSettings, "config set": c.listSettings, "why": c.listResources, "state rename": c.listResources,
	}
	many := map[string]lister{
		"state delete": c.listResources, "state protect": c.listResources, "state unprotect": c.listResources,
		"state taint": c.listResources, "state untaint": c.listResources, "state move": c.listResources,
	}
	files := []string{"new", "gen-man", "gen-markdown", "stack graph"}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for name, list := range flags {
			if f := cmd.LocalFlags().Lookup(name); f != nil && (cmd == root || cmd.InheritedFlags().Lookup(name) == nil) {
				_ = cmd.RegisterFlagCompletionFunc(name, c.completing(list, false)) // fails only for flags that are not there
			}
		}
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		switch {
		case one[path] != nil:
			cmd.ValidArgsFunction = c.completing(one[path], true)
		case many[path] != nil:
			cmd.ValidArgsFunction = c.completing(many[path], false)
		case !cmd.HasSubCommands() && cmd.ValidArgs == nil && !slices.Contains(files, path):
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

func words(list ...string) lister {
	return func(context.Context, *cobra.Command) ([]string, error) { return list, nil }
}

// completing adapts a lister to cobra. With first set it is for the first argument alone. Errors are nobody's business who
// presses Tab.
func (c *cli) completing(list lister, first bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if first && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if c.cwd != "" && os.Chdir(c.cwd) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		c.NonInteractive, c.Err = true, io.Discard
		found, err := list(cmd.Context(), cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = slices.DeleteFunc(slices.Clone(found), func(word string) bool { return !strings.HasPrefix(word, toComplete) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *cli) listStackNames(ctx context.Context, _ *cobra.Command) ([]string, error) {
	s, err := c.openProject(ctx)
	if err != nil {
		return nil, err
	}
	stacks, err := s.backend.Stacks(ctx, s.project.Name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range stacks {
		out = append(out, l.Ref.Display(s.project.Name))
	}
	return out, nil
}

// completed opens the stack of --stack, or the selected one.
func (c *cli) completed(ctx context.Context, cmd *cobra.Command) (*session, error) {
	name, _ := cmd.Flags().GetString("stack") // "" where there is no such flag
	return c.openStack(ctx, name, "")
}

func (c *cli) listSettings(ctx context.Context, cmd *cobra.Command) ([]string, error) {
	s, err := c.completed(ctx, cmd)
	if err != nil {
		return nil, err
	}
	values, missing := workspace.Effective(s.project, s.file)
	var out []string
	for _, key := range slices.SortedFunc(maps.Keys(values), workspace.CompareKeys) {
		out = append(out, key.Short(s.project.Name))
	}
	for _, key := range missing {
		out = append(out, key.Short(s.project.Name))
	}
	return out, nil
}

func (c *cli) listOutputs(ctx context.Context, cmd *cobra.Command) ([]string, error) {
	s, err := c.completed(ctx, cmd)
	if err != nil {
		return nil, err
	}
	outputs, err := s.stack.Outputs(ctx, true)
	if err != nil {
		return nil, err
	}
	return outputs.Names(), nil
}

func (c *cli) listURNs(ctx context.Context, cmd *cobra.Command) ([]string, error) {
	return c.listRecorded(ctx, cmd, func(r *sluice.Resource) string { return string(r.URN) })
}

func (c *cli) listResources(ctx context.Context, cmd *cobra.Command) ([]string, error) {
	return c.listRecorded(ctx, cmd, func(r *sluice.Resource) string { return r.URN.Name() })
}

// listRecorded lists what f says of the recorded resources, each word once.
func (c *cli) listRecorded(ctx context.Context, cmd *cobra.Command, f func(*sluice.Resource) string) ([]string, error) {
	s, err := c.completed(ctx, cmd)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.stack.LoadSealed(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	var out []string
	for _, r := range snapshot.Resources {
		out = append(out, f(r))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
