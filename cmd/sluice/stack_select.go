package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackSelectCommand(open *session.Opener, stack *string) *cobra.Command {
	var create bool
	var provider string
	cmd := &cobra.Command{
		Use:   "select [name]",
		Short: "Select the stack that other commands use",
		Args:  rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := *stack
			if len(args) == 1 {
				if name != "" && name != args[0] {
					return exit.Usagef("only one of --stack or argument stack name may be specified, not both")
				}
				name = args[0]
			}
			return selectStack(cmd.Context(), open, name, create, provider)
		},
	}
	cmd.Flags().BoolVarP(&create, "create", "c", false, "create the stack if it does not exist")
	cmd.Flags().StringVar(&provider, "secrets-provider", "default", "with --create: how secrets are encrypted: passphrase, default (the same), or the URL of a key service")
	return cmd
}

func selectStack(ctx context.Context, open *session.Opener, name string, create bool, provider string) error {
	in, err := open.Session(ctx)
	if err != nil {
		return err
	}
	if name == "" && in.Terminal.Interactive() {
		_, err := in.AskForStack(ctx)
		return err
	}
	if name == "" {
		return exit.Usagef("name the stack to select: `sluice stack select <name>`; `sluice stack ls` lists them")
	}
	ref, err := in.Resolve(name)
	if err != nil {
		return err
	}
	_, err = in.Open(ctx, ref)
	var missing *backend.NotFoundError
	if create && errors.As(err, &missing) {
		_, err = session.Make(ctx, in, name, provider, true)
		return err
	}
	if err != nil {
		return err
	}
	return in.Selection.Select(ref.String())
}
