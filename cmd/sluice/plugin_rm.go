package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers/plugin"
)

func newPluginRemoveCommand(t *terminal.Terminal) *cobra.Command {
	var all, yes bool
	cmd := &cobra.Command{
		Use:     "rm [KIND [NAME [VERSION]]]",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove plugins that were installed",
		Long: "Remove plugins that were installed: those of a kind, of a name, or of a version, which may be a range such as\n" +
			"'<2.0.0'; all of them with --all. Beside a kind, --all changes nothing. What is needed again is installed again.",
		Args: rangeArgs(0, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !all {
				return exit.Usagef("missing kind of plugin; use --all to remove all plugins")
			}
			places, err := plugins.Find(t)
			if err != nil {
				return err
			}
			chosen, err := choosePlugins(places, args)
			if err != nil {
				return err
			}
			if len(chosen) == 0 {
				_, err := fmt.Fprintln(t.Err, t.Named("no plugins found to uninstall; `sluice plugin ls` lists those that are installed"))
				return err
			}
			return removePlugins(cmd.Context(), places, chosen, yes)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "remove all plugins that were installed")
	flags.AddYes(cmd.Flags(), &yes, "do not ask for confirmation")
	return cmd
}

// choosePlugins returns the installed plugins that the arguments select.
func choosePlugins(places *plugins.Places, args []string) ([]plugin.Listing, error) {
	fits := func(l plugin.Listing) bool { return true }
	if len(args) > 0 {
		kind, err := pluginKind(args[0])
		if err != nil {
			return nil, err
		}
		fits = func(l plugin.Listing) bool { return l.Kind == kind && (len(args) < 2 || l.Name == args[1]) }
	}
	var versions *semver.Constraints
	if len(args) == 3 {
		var err error
		if versions, err = semver.NewConstraint(args[2]); err != nil {
			return nil, exit.Usagef("%q is neither a version nor a range of versions", args[2])
		}
		versions.IncludePrerelease = true
	}
	var chosen []plugin.Listing
	for _, l := range places.Cached() {
		if versions != nil {
			v, err := semver.NewVersion(l.Version)
			if err != nil || !versions.Check(v) {
				continue
			}
		}
		if fits(l) {
			chosen = append(chosen, l)
		}
	}
	return chosen, nil
}

func removePlugins(ctx context.Context, places *plugins.Places, chosen []plugin.Listing, yes bool) error {
	t := places.Terminal
	if !yes && !t.Interactive() {
		return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
	}
	names := make([]string, len(chosen))
	for i, l := range chosen {
		names[i] = strings.TrimSpace(fmt.Sprintf("%s %s %s", l.Kind, l.Name, l.Version))
	}
	if !yes {
		question := fmt.Sprintf("This removes:\n    %s\nRemove them?", strings.Join(names, "\n    "))
		if confirmed, err := terminal.Confirm(ctx, t, question); err != nil || !confirmed {
			return errors.Join(err, errors.New("confirmation declined"))
		}
	}
	for i, l := range chosen {
		if err := places.Installer.Remove(ctx, l); err != nil {
			return fmt.Errorf("remove %s: %w", names[i], err)
		}
		fmt.Fprintf(t.Err, "removed %s\n", names[i])
	}
	return nil
}
