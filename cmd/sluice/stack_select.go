package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

func newStackSelectCommand(c *cli, stack *string) *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "select [name]",
		Short: "Make a stack the one that other commands use",
		Args:  rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := *stack
			if len(args) == 1 {
				if name != "" && name != args[0] {
					return exit.Usagef("only one of --stack or argument stack name may be specified, not both")
				}
				name = args[0]
			}
			return c.selectStack(cmd.Context(), name, create)
		},
	}
	cmd.Flags().BoolVarP(&create, "create", "c", false, "make the stack if there is none of that name")
	return cmd
}

func (c *cli) selectStack(ctx context.Context, name string, create bool) error {
	s, err := c.openProject(ctx)
	if err != nil {
		return err
	}
	if name == "" {
		if name, err = s.askForStack(ctx); err != nil {
			return err
		}
	}
	ref, err := s.backend.Resolve(name)
	if err != nil {
		return exit.AsUsage(err)
	}
	err = s.open(ctx, ref)
	var missing *sluice.StackNotFoundError
	if create && errors.As(err, &missing) {
		if err := s.init(ctx, name, "default"); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "Created stack '%s'\n", s.name())
		return s.selection.Select(s.ref.String())
	}
	if err != nil {
		return err
	}
	return s.selection.Select(ref.String())
}

// askForStack lets somebody choose from the stacks of the project.
func (s *session) askForStack(ctx context.Context) (string, error) {
	if !s.cli.Interactive() {
		return "", exit.NoStackf("no stack selected; write the name of a stack: `sluice stack select <name>`")
	}
	stacks, err := s.backend.Stacks(ctx, s.project.Name)
	if err != nil {
		return "", err
	}
	if len(stacks) == 0 {
		return "", exit.NoStackf("the project has no stacks; make one with `sluice stack init`")
	}
	for i, l := range stacks {
		fmt.Fprintf(s.cli.Out, "%3d  %s\n", i+1, l.Ref.Display(s.project.Name))
	}
	answer, err := s.cli.Ask("Please choose a stack by number or name: ")
	if err != nil {
		return "", err
	}
	if i, err := strconv.Atoi(answer); err == nil && i >= 1 && i <= len(stacks) {
		return stacks[i-1].Ref.String(), nil
	}
	return answer, nil
}
