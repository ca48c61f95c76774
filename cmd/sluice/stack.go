package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStackCommand(c *cli) *cobra.Command {
	var stack string
	var show stackShown
	cmd := &cobra.Command{
		Use:   "stack",
		Short: "Make, select, list, export and remove stacks",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.showStack(cmd.Context(), stack, show)
		},
	}
	cmd.PersistentFlags().StringVarP(&stack, "stack", "s", "", "the stack; the selected one if not given")
	cmd.Flags().BoolVar(&show.name, "show-name", false, "print only the name of the stack")
	cmd.Flags().BoolVarP(&show.urns, "show-urns", "u", false, "show the URNs of the resources")
	cmd.Flags().BoolVarP(&show.ids, "show-ids", "i", false, "show the IDs of the resources")
	cmd.AddCommand(
		newStackInitCommand(c, &stack), newStackSelectCommand(c, &stack), newStackListCommand(c),
		newStackRemoveCommand(c, &stack), newStackExportCommand(c, &stack), newStackImportCommand(c, &stack),
		newStackOutputCommand(c, &stack), newStackHistoryCommand(c, &stack), newStackTagCommand(c, &stack),
		newStackRenameCommand(c, &stack), newStackSecretsCommand(c, &stack), newStackGraphCommand(c, &stack),
	)
	return cmd
}

// stackShown is what of a stack is shown: its name only, or the URNs and IDs of its resources too.
type stackShown struct{ name, urns, ids bool }

// showStack prints a summary: the resources and the outputs.
func (c *cli) showStack(ctx context.Context, name string, show stackShown) error {
	s, err := c.openStack(ctx, name, "")
	if err != nil {
		return err
	}
	if show.name {
		_, err := fmt.Fprintln(c.Out, s.name())
		return err
	}
	snapshot, err := s.stack.LoadSealed(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Current stack is %s:\n", s.name())
	fmt.Fprintf(c.Out, "    State: %s\n", s.stack.File(ctx))
	if snapshot == nil || len(snapshot.Resources) == 0 {
		fmt.Fprintln(c.Out, "    No resources currently in this stack")
		return c.writePending(snapshot)
	}
	fmt.Fprintf(c.Out, "Current stack resources (%d):\n", len(snapshot.Resources))
	if err := c.writeResources(snapshot.Resources, show); err != nil {
		return err
	}
	if err := c.writePending(snapshot); err != nil {
		return err
	}
	outputs, err := s.stack.Outputs(ctx, true)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out)
	return c.writeOutputsTable(outputs, false)
}

// writeResources prints a table of types and names, and below each resource what else is asked for.
func (c *cli) writeResources(resources []*sluice.Resource, show stackShown) error {
	width := len("TYPE")
	for _, r := range resources {
		width = max(width, len([]rune(r.Type)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "    %-*s  NAME\n", width, "TYPE")
	for _, r := range resources {
		fmt.Fprintf(&b, "    %-*s  %s\n", width, r.Type, format.Printable(r.URN.Name()))
		if show.urns {
			fmt.Fprintf(&b, "        URN: %s\n", format.Printable(string(r.URN)))
		}
		if show.ids && r.ID != "" {
			fmt.Fprintf(&b, "        ID: %s\n", format.Printable(r.ID))
		}
	}
	_, err := fmt.Fprint(c.Out, b.String())
	return err
}

// writePending lists the operations of which nobody knows how they ended, if there are any.
func (c *cli) writePending(snapshot *sluice.Snapshot) error {
	if snapshot == nil || len(snapshot.Pending) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nOperations that were interrupted, `sluice recover` settles them (%d):\n", len(snapshot.Pending))
	for _, op := range snapshot.Pending {
		fmt.Fprintf(&b, "    %s %s\n", op.Type, format.Printable(string(op.Resource.URN)))
	}
	_, err := fmt.Fprint(c.Out, b.String())
	return err
}
