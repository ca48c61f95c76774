package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// lister lists the words that can complete an argument of a command.
type lister func(ctx context.Context, open *session.Opener, cmd *cobra.Command) ([]string, error)

// complete adds completion of stacks, settings, resources and the like to shells.
func complete(root *cobra.Command, g *globalFlags) {
	flags := map[string]lister{
		"stack": listStackNames, "color": words("always", "auto", "never", "raw"), "checkpoint": words("end", "every-step", "timed"),
		"language": words("typescript", "python", "go", "csharp", "java", "yaml", "pcl"), "from": words("yaml", "terraform", "pcl"),
		"target": listURNs, "exclude": listURNs, "replace": listURNs, "target-replace": listURNs, "around": listResources,
	}
	one := map[string]lister{
		"stack select": listStackNames, "stack rm": listStackNames, "stack output": listOutputs,
		"config get": listSettings, "config rm": listSettings, "config set": listSettings, "why": listResources, "state rename": listResources,
		"plugin install": words(pluginKinds()...), "plugin rm": words(pluginKinds()...), "plugin run": words(pluginKinds()...),
		"state get": listResources,
	}
	many := map[string]lister{
		"state delete": listResources, "state protect": listResources, "state unprotect": listResources,
		"state taint": listResources, "state untaint": listResources, "state move": listResources,
	}
	files := []string{"new", "project new", "gen-man", "gen-markdown", "stack graph", "policy new", "policy install", "package new", "schema check", "report"}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for name, list := range flags {
			// LocalFlags would first merge the flags of all parents into those of each command, which takes a tenth of the time of a process that does little.
			if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, completing(g, list, false)) // fails only for a flag of a parent, which is registered
			}
		}
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		switch {
		case one[path] != nil:
			cmd.ValidArgsFunction = completing(g, one[path], true)
		case many[path] != nil:
			cmd.ValidArgsFunction = completing(g, many[path], false)
		case !cmd.HasSubCommands() && cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !slices.Contains(files, path):
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

func words(list ...string) lister {
	return func(context.Context, *session.Opener, *cobra.Command) ([]string, error) { return list, nil }
}

// completing adapts a lister to cobra. If first is set, it completes the first argument only. It drops errors, because
// they do not help a user who presses Tab.
func completing(g *globalFlags, list lister, first bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if first && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if g.enterDirectory() != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		g.open.Terminal.NonInteractive, g.open.Terminal.Err = true, io.Discard
		found, err := list(cmd.Context(), g.open, cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = slices.DeleteFunc(slices.Clone(found), func(word string) bool { return !strings.HasPrefix(word, toComplete) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func listStackNames(ctx context.Context, open *session.Opener, _ *cobra.Command) ([]string, error) {
	s, err := open.AnySession(ctx)
	if err != nil {
		return nil, err
	}
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: s.Project.Name})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range stacks {
		out = append(out, s.NameOf(l.Ref))
	}
	return out, nil
}

// completed opens the stack of --stack, or the selected stack.
func completed(ctx context.Context, open *session.Opener, cmd *cobra.Command) (*session.Stack, error) {
	name, _ := cmd.Flags().GetString("stack") // "" if there is no such flag
	return open.Stack(ctx, name, "")
}

func listSettings(ctx context.Context, open *session.Opener, cmd *cobra.Command) ([]string, error) {
	s, err := completed(ctx, open, cmd)
	if err != nil {
		return nil, err
	}
	values, missing, err := workspace.Effective(s.Session.Project, s.Settings)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range slices.SortedFunc(maps.Keys(values), workspace.CompareKeys) {
		out = append(out, key.Short(s.Session.Project.Name))
	}
	for _, key := range missing {
		out = append(out, key.Short(s.Session.Project.Name))
	}
	return out, nil
}

func listOutputs(ctx context.Context, open *session.Opener, cmd *cobra.Command) ([]string, error) {
	s, err := completed(ctx, open, cmd)
	if err != nil {
		return nil, err
	}
	outputs, err := s.State.Outputs(ctx, true)
	if err != nil {
		return nil, err
	}
	return outputs.Names(), nil
}

func listURNs(ctx context.Context, open *session.Opener, cmd *cobra.Command) ([]string, error) {
	return listRecorded(ctx, open, cmd, func(r *state.Resource) string { return string(r.URN) })
}

func listResources(ctx context.Context, open *session.Opener, cmd *cobra.Command) ([]string, error) {
	return listRecorded(ctx, open, cmd, func(r *state.Resource) string { return r.URN.Name() })
}

// listRecorded lists the words that f returns for the recorded resources, each word once.
func listRecorded(ctx context.Context, open *session.Opener, cmd *cobra.Command, f func(*state.Resource) string) ([]string, error) {
	s, err := completed(ctx, open, cmd)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.State.LoadSealed(ctx)
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
