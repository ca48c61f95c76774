package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newVersionCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of sluice",
		Args:  exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(t.Out, "v"+sluice.Version)
			return err
		},
	}
}
