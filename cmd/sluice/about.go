package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/about"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newAboutCommand(open *session.Opener) *cobra.Command {
	var stack string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "about",
		Short: "Print what sluice is, and what it finds here",
		Long: "Print the version, the project, the stack and the backend of this directory, and the runtimes, plugins and\n" +
			"built-in providers that there are: what is worth saying when something does not work. Nothing is started but\n" +
			"the tools and the language plugin that say their versions. What cannot be found out is a warning and never\n" +
			"fails. Secrets are not shown.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a := about.Look(cmd.Context(), open, stack)
			if asJSON {
				return about.WriteJSON(open.Terminal, a)
			}
			return about.Write(open.Terminal, a)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	flags.AddStack(cmd.Flags(), &stack)
	cmd.Flags().BoolP("transitive", "t", false, "accepted for scripts: the packages of the program are not listed")
	_ = cmd.Flags().MarkHidden("transitive") // fails only for flags that do not exist
	return cmd
}
