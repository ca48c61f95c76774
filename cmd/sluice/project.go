package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newProjectCommand(open *session.Opener) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "List the projects of the backend, and create projects",
		Long:  "List the projects that have stacks in the backend, and create projects.",
		Args:  exactArgs(0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProjectListCommand(open), newNewCommand(open))
	return cmd
}
