package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
)

func newVersionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of sluice",
		Args:  exactArgs(0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.Out, "v"+sluice.Version)
			return err
		},
	}
}
