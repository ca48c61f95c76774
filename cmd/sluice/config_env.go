package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newConfigEnvCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Choose the environments that a stack takes settings from",
		Long: "Choose the environments from which a stack takes settings. Pulumi's service stores and evaluates environments. They\n" +
			"contain settings, variables for the program and its plugins, and files. The configuration file of the stack lists\n" +
			"their names. Its settings take precedence over those of environments. Later environments take precedence over\n" +
			"earlier ones.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigEnvInitCommand(open, f), newConfigEnvListCommand(open, f), newConfigEnvAddCommand(open, f), newConfigEnvRemoveCommand(open, f))
	return cmd
}

// noEnvironments explains why a stack cannot have environments.
const noEnvironments = "only Pulumi's service has environments, and the state of this stack is elsewhere"

func newConfigEnvListCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the environments of a stack",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := open.Stack(cmd.Context(), f.Name, f.ConfigFile)
			if err != nil {
				return err
			}
			if !environments.HasService(s) {
				return errors.New(noEnvironments)
			}
			names, err := s.Settings.Environments.Names()
			if err != nil {
				return err
			}
			if asJSON {
				return format.JSON(open.Terminal.Data(), append([]string{}, names...))
			}
			if len(names) == 0 {
				_, err = fmt.Fprintln(open.Terminal.Err, open.Terminal.Named("The stack has no environments; `sluice config env add <project>/<name>` adds one"))
				return err
			}
			fmt.Fprintln(open.Terminal.Out, "ENVIRONMENTS")
			for _, name := range names {
				fmt.Fprintln(open.Terminal.Out, name)
			}
			return nil
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

func newConfigEnvAddCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add <environment>...",
		Short: "Add environments to a stack",
		Long:  "Add environments to a stack, after those that it has. Nothing is written unless they can be evaluated together.",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return editEnvironments(cmd, open, f, func(s *session.Stack) error { return s.Settings.Environments.Add(args) })
		},
	}
	addEnvironmentFlags(cmd)
	return cmd
}

func newConfigEnvRemoveCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rm <environment>",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove an environment from a stack",
		Args:    exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return editEnvironments(cmd, open, f, func(s *session.Stack) error {
				removed, err := s.Settings.Environments.Remove(args[0])
				if err == nil && !removed {
					err = exit.Usagef("stack '%s' has no environment %q; `sluice config env ls` lists those that it has", s.Name(), args[0])
				}
				return err
			})
		},
	}
	addEnvironmentFlags(cmd)
	return cmd
}

func addEnvironmentFlags(cmd *cobra.Command) {
	cmd.Flags().BoolP("yes", "y", false, "accepted for scripts: nothing is asked")
	cmd.Flags().Bool("show-secrets", false, "accepted for scripts: no secrets are shown")
	for _, name := range []string{"yes", "show-secrets"} {
		_ = cmd.Flags().MarkHidden(name) // fails only for flags that do not exist
	}
}

// editEnvironments changes the list of environments, and writes it if it can be evaluated.
func editEnvironments(cmd *cobra.Command, open *session.Opener, f *flags.Stack, edit func(*session.Stack) error) error {
	s, err := open.Stack(cmd.Context(), f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	if err := edit(s); err != nil {
		return err
	}
	_, err = environments.Of(cmd.Context(), s, environments.Query{})
	if errors.Is(err, environments.ErrNoService) {
		return errors.New("nothing was changed: " + noEnvironments)
	}
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return s.Settings.Save()
}
