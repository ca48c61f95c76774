package main

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newStackInitCommand(open *session.Opener, stack *string) *cobra.Command {
	var noSelect bool
	var provider, copyFrom string
	cmd := &cobra.Command{
		Use:     "init [name]",
		Aliases: []string{"new", "create", "setup"},
		Short:   "Create an empty stack and select it",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := newStackName(cmd.Context(), open.Terminal, args, *stack)
			if err != nil {
				return err
			}
			return initStack(cmd.Context(), open, name, provider, copyFrom, !noSelect)
		},
	}
	cmd.Flags().BoolVar(&noSelect, "no-select", false, "do not select the new stack")
	cmd.Flags().StringVar(&provider, "secrets-provider", "default", "how secrets are encrypted: passphrase, default (the same), or the URL of a key service")
	cmd.Flags().StringVar(&copyFrom, "copy-config-from", "", "copy the settings of this stack; secrets are encrypted with the key of the new one")
	cmd.Flags().BoolP("yes", "y", false, "accepted for scripts: nothing is asked")
	_ = cmd.Flags().MarkHidden("yes") // fails only for flags that do not exist
	return cmd
}

// newStackName returns the name from the argument or from --stack. If there is none, it requests one.
func newStackName(ctx context.Context, t *terminal.Terminal, args []string, flag string) (string, error) {
	switch {
	case len(args) == 1 && flag != "" && args[0] != flag:
		return "", exit.Usagef("only one of --stack or argument stack name may be specified, not both")
	case len(args) == 1:
		return args[0], nil
	case flag != "":
		return flag, nil
	case t.Interactive():
		return t.Ask(ctx, "Please enter the name of the new stack: ")
	}
	return "", exit.Usagef("missing stack name: write the name of the new stack as an argument")
}

// initStack makes a stack. copyFrom is a stack whose settings it copies, "" for none; it must exist before anything is made.
func initStack(ctx context.Context, open *session.Opener, name, provider, copyFrom string, selectIt bool) error {
	in, err := open.Session(ctx)
	if err != nil {
		return err
	}
	var from *session.Stack
	if copyFrom != "" {
		if from, err = open.Stack(ctx, copyFrom, ""); err != nil {
			return err
		}
	}
	if _, err = session.Make(ctx, in, name, provider, selectIt); err != nil || from == nil {
		return err
	}
	to, err := open.Stack(ctx, name, "")
	if err != nil {
		return err
	}
	return putSettings(ctx, from, to, maps.Clone(from.Settings.Values()), false)
}
