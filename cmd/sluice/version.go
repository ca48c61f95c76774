package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/source/engine"
)

func newVersionCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of sluice",
		Long: "Print the version of sluice. Called by the name pulumi, through a link, it prints the version of Pulumi that sluice\n" +
			"behaves as, for those who check it.",
		Args: exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			version := sluice.Version
			if t.AsPulumi {
				version = engine.CompatibilityVersion
			}
			_, err := fmt.Fprintln(t.Out, "v"+version)
			return err
		},
	}
}
