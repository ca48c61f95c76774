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
		Short: "Print the version and what sluice finds in this directory",
		Long: "Print what sluice finds in this directory: its version, the project, the stack, the backend, the runtimes, the\n" +
			"plugins and the built-in providers. Include this output in bug reports. The command starts nothing except the tools\n" +
			"and language plugins that report their versions. If something cannot be determined, it prints a warning and does\n" +
			"not fail. Secrets are not shown.",
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
