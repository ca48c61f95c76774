package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newGenManCommand(t *terminal.Terminal, newRoot func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "gen-man DIRECTORY",
		Short:   "Write man pages, one for each command",
		Example: "  sluice gen-man ~/.local/share/man/man1\n  man sluice-up",
		Args:    exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return writeManual(t.Out, newRoot(), args[0], func(root *cobra.Command, directory string) error {
				header := doc.GenManHeader{Section: "1", Source: "sluice " + sluice.Version, Manual: "sluice"}
				return doc.GenManTree(root, &header, directory)
			})
		},
	}
}
