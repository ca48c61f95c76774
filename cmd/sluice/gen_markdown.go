package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/text/manual"
)

func newGenMarkdownCommand(t *terminal.Terminal, newRoot func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "gen-markdown DIRECTORY",
		Short: "Write the reference of all commands as Markdown, one file for each",
		Args:  exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return manual.Markdown(t.Data(), newRoot(), args[0])
		},
	}
}
