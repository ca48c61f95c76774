package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

func newStackInitCommand(c *cli, stack *string) *cobra.Command {
	var noSelect bool
	var provider string
	cmd := &cobra.Command{
		Use:     "init [name]",
		Aliases: []string{"new", "create"},
		Short:   "Make an empty stack and select it",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := c.stackArgument(args, *stack, "the new stack")
			if err != nil {
				return err
			}
			return c.initStack(cmd.Context(), name, provider, !noSelect)
		},
	}
	cmd.Flags().BoolVar(&noSelect, "no-select", false, "do not select the new stack")
	cmd.Flags().StringVar(&provider, "secrets-provider", "default", "how secrets are encrypted: passphrase, default, which is the same, or the URL of a key service")
	return cmd
}

// stackArgument is the name given as an argument or with --stack, or asked for.
func (c *cli) stackArgument(args []string, flag, what string) (string, error) {
	switch {
	case len(args) == 1 && flag != "" && args[0] != flag:
		return "", exit.Usagef("only one of --stack or argument stack name may be specified, not both")
	case len(args) == 1:
		return args[0], nil
	case flag != "":
		return flag, nil
	case c.Interactive():
		return c.Ask("Please enter the name of " + what + ": ")
	}
	return "", exit.Usagef("missing stack name: write the name of %s as an argument", what)
}

func (c *cli) initStack(ctx context.Context, name, provider string, selectIt bool) error {
	s, err := c.openProject(ctx)
	if err != nil {
		return err
	}
	if err := sluice.CheckSecretsProvider(provider, s.source); err != nil {
		return exit.Usagef("%w", err)
	}
	if err := s.init(ctx, name, provider); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Created stack '%s'\n", s.name())
	if !selectIt {
		return nil
	}
	return s.selection.Select(s.ref.String())
}

// init makes a stack: its state, then the secrets parameters in its file (state.md 7.2).
func (s *session) init(ctx context.Context, name, provider string) error {
	ref, err := s.backend.Resolve(name)
	if err != nil {
		return exit.AsUsage(err)
	}
	if ref.Project != "" && ref.Project != s.project.Name {
		return exit.Usagef("provided project name %q doesn't match Pulumi.yaml, which says %q", ref.Project, s.project.Name)
	}
	s.ref = ref
	if err := s.readFile(""); err != nil {
		return err
	}
	// Whether it exists is known before anybody has to type a passphrase.
	var missing *sluice.StackNotFoundError
	if _, err := s.backend.Open(ctx, ref); err == nil {
		return &sluice.StackExistsError{Name: s.name()}
	} else if !errors.As(err, &missing) {
		return err
	}
	if !sluice.IsPassphraseProvider(provider) && s.file.SecretsProvider() != provider {
		if s.file.HasSecrets() {
			return fmt.Errorf("%s has secrets under another key; make the stack with that, and then use `sluice stack change-secrets-provider`", s.file.Path)
		}
		s.file.SetSecrets(provider, "", "")
	}
	manager, err := s.secretsManager(ctx)
	if err != nil {
		return err
	}
	if s.stack, err = s.backend.Init(ctx, ref, manager); err != nil {
		return err
	}
	return s.file.Save()
}
