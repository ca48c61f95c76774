package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/text/manual"
)

func newGenManCommand(t *terminal.Terminal, newRoot func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "gen-man DIRECTORY",
		Short:   "Write man pages, one for each command",
		Example: "  sluice gen-man ~/.local/share/man/man1\n  man sluice-up",
		Args:    exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return manual.Man(t.Data(), newRoot(), "sluice "+sluice.Version, args[0])
		},
	}
}
