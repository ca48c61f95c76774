package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state"
)

func newStackCommand(open *session.Opener) *cobra.Command {
	var stack string
	var show stackShown
	cmd := &cobra.Command{
		Use:   "stack",
		Short: "Make, select, list, export and remove stacks",
		Args:  exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showStack(cmd.Context(), open, stack, show)
		},
	}
	flags.AddStack(cmd.PersistentFlags(), &stack)
	cmd.Flags().BoolVar(&show.name, "show-name", false, "print only the name of the stack")
	cmd.Flags().BoolVarP(&show.urns, "show-urns", "u", false, "show the URNs of the resources")
	cmd.Flags().BoolVarP(&show.ids, "show-ids", "i", false, "show the IDs of the resources")
	cmd.Flags().BoolVar(&show.secrets, "show-secrets", false, "show secret outputs")
	flags.AddJSON(cmd.Flags(), &show.json, "write JSON")
	cmd.AddCommand(
		newStackInitCommand(open, &stack), newStackSelectCommand(open, &stack), newStackUnselectCommand(open), newStackListCommand(open),
		newStackRemoveCommand(open, &stack), newStackExportCommand(open, &stack), newStackImportCommand(open, &stack),
		newStackOutputCommand(open, &stack), newStackHistoryCommand(open, &stack), newStackTagCommand(open, &stack),
		newStackRenameCommand(open, &stack), newStackSecretsCommand(open, &stack), newStackGraphCommand(open, &stack),
	)
	cmd.AddCommand(newStackServiceCommands()...)
	return cmd
}

// stackShown selects what is shown of a stack: its name only, or also the URNs and IDs of its resources, and in which form.
type stackShown struct{ name, urns, ids, secrets, json bool }

// showStack prints a summary of a stack: its resources and outputs.
func showStack(ctx context.Context, open *session.Opener, name string, show stackShown) error {
	s, err := open.AnyStack(ctx, name, "")
	if err != nil {
		return err
	}
	out := open.Terminal.Out
	if show.name && !show.json {
		_, err := fmt.Fprintln(out, s.Name())
		return err
	}
	snapshot, err := s.State.LoadSealed(ctx)
	if err != nil {
		return err
	}
	outputs, err := s.State.Outputs(ctx, !show.secrets)
	if err != nil {
		return err
	}
	if show.json {
		return writeStackJSON(ctx, s, snapshot, outputs, show.secrets)
	}
	fmt.Fprintf(out, "Current stack is %s:\n", s.Name())
	fmt.Fprintf(out, "    State: %s\n", s.State.File(ctx))
	if snapshot == nil || len(snapshot.Resources) == 0 {
		fmt.Fprintln(out, "    No resources currently in this stack")
		return writePending(out, snapshot)
	}
	fmt.Fprintf(out, "Current stack resources (%d):\n", len(snapshot.Resources))
	if err := writeResources(out, snapshot.Resources, show); err != nil {
		return err
	}
	if err := writePending(out, snapshot); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return writeOutputsTable(out, outputs, show.secrets)
}

// writeResources prints a table of types and names, and below each resource what else is to be shown.
func writeResources(w io.Writer, resources []*state.Resource, show stackShown) error {
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
	_, err := fmt.Fprint(w, b.String())
	return err
}

// writePending lists the pending operations, if there are any.
func writePending(w io.Writer, snapshot *state.Snapshot) error {
	if snapshot == nil {
		return nil
	}
	var interrupted, underWay []string
	for _, op := range snapshot.Pending {
		line := fmt.Sprintf("    %s %s\n", op.Type, format.Printable(string(op.Resource.URN)))
		if op.UnderWay {
			underWay = append(underWay, line)
		} else {
			interrupted = append(interrupted, line)
		}
	}
	var b strings.Builder
	if len(underWay) > 0 {
		fmt.Fprintf(&b, "\nOperations of another command that have not ended (%d):\n%s", len(underWay), strings.Join(underWay, ""))
	}
	if len(interrupted) > 0 {
		fmt.Fprintf(&b, "\nOperations that were interrupted, `sluice recover` resolves them (%d):\n%s", len(interrupted), strings.Join(interrupted, ""))
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}
