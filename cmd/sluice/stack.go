package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func newStackCommand(c *cli) *cobra.Command {
	var stack string
	var showName bool
	cmd := &cobra.Command{
		Use:   "stack",
		Short: "Make, select, list, export and remove stacks",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.showStack(cmd.Context(), stack, showName)
		},
	}
	cmd.PersistentFlags().StringVarP(&stack, "stack", "s", "", "the stack; the selected one if not given")
	cmd.Flags().BoolVar(&showName, "show-name", false, "print only the name of the stack")
	cmd.AddCommand(
		newStackInitCommand(c, &stack), newStackSelectCommand(c, &stack), newStackListCommand(c),
		newStackRemoveCommand(c, &stack), newStackExportCommand(c, &stack), newStackImportCommand(c, &stack),
		newStackOutputCommand(c, &stack),
	)
	return cmd
}

// showStack prints a summary: the resources and the outputs.
func (c *cli) showStack(ctx context.Context, name string, showName bool) error {
	s, err := c.openStack(ctx, name, "")
	if err != nil {
		return err
	}
	if showName {
		_, err := fmt.Fprintln(c.out, s.name())
		return err
	}
	stack, err := s.backend.Open(ctx, s.ref)
	if err != nil {
		return err
	}
	snapshot, err := stack.LoadSealed(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "Current stack is %s:\n", s.name())
	fmt.Fprintf(c.out, "    State: %s\n", stack.File())
	if snapshot == nil || len(snapshot.Resources) == 0 {
		_, err := fmt.Fprintln(c.out, "    No resources currently in this stack")
		return err
	}
	fmt.Fprintf(c.out, "Current stack resources (%d):\n", len(snapshot.Resources))
	rows := [][2]string{{"    TYPE", "NAME"}}
	for _, r := range snapshot.Resources {
		rows = append(rows, [2]string{"    " + string(r.Type), printable(r.URN.Name())})
	}
	if err := c.writeTable(rows); err != nil {
		return err
	}
	outputs, err := stack.Outputs(ctx, true)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out)
	return c.writeOutputsTable(outputs, false)
}

// printable shows a name on one line, whatever characters it has.
func printable(name string) string {
	quoted := strconv.Quote(name)
	if quoted[1:len(quoted)-1] == name {
		return name
	}
	return quoted
}
