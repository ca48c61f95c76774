package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newStackGetCommand(open *session.Opener, stack *string) *cobra.Command {
	var show stackShown
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Show a stack, as `stack` without a command does",
		Long: "Show a stack: when it was last updated, its resources, each below its parent, and its outputs. It is the same as\n" +
			"`sluice stack`.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showStack(cmd.Context(), open, *stack, show)
		},
	}
	show.add(cmd.Flags())
	return cmd
}
