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
		Long: "Print the version of sluice. Under the name pulumi, through a link, print the version of Pulumi with which sluice is\n" +
			"compatible.",
		Args: exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(t.Out, versionOf(t))
			return err
		},
	}
}

// versionOf returns the version that the command reports.
func versionOf(t *terminal.Terminal) string {
	if t.AsPulumi {
		return "v" + engine.CompatibilityVersion
	}
	return "v" + sluice.Version
}
