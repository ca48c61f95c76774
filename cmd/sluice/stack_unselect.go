package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

func newStackUnselectCommand(open *session.Opener) *cobra.Command {
	return &cobra.Command{
		Use:   "unselect",
		Short: "Select no stack",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := open.Session(cmd.Context())
			if err != nil {
				return err
			}
			name, err := in.Selection.Stack()
			if err != nil || name == "" {
				return err
			}
			if err := in.Selection.Clear(); err != nil {
				return err
			}
			fmt.Fprintln(in.Terminal.Err, "Stack was unselected")
			if name := in.Terminal.Env("PULUMI_STACK"); name != "" {
				in.Terminal.Warn("PULUMI_STACK still selects %s", name)
			}
			return nil
		},
	}
}
