package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/rows"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackCommand(open *session.Opener) *cobra.Command {
	var stack string
	var show stackShown
	cmd := &cobra.Command{
		Use:   "stack",
		Short: "Create, select, list, export and remove stacks",
		Long: "Show a stack: when it was last updated, its resources, each below its parent, and its outputs. The commands below\n" +
			"make, select, list, export and remove stacks.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showStack(cmd.Context(), open, stack, show)
		},
	}
	flags.AddStack(cmd.PersistentFlags(), &stack)
	show.add(cmd.Flags())
	cmd.AddCommand(
		newStackInitCommand(open, &stack), newStackGetCommand(open, &stack), newStackSelectCommand(open, &stack), newStackUnselectCommand(open), newStackListCommand(open),
		newStackRemoveCommand(open, &stack), newStackExportCommand(open, &stack), newStackImportCommand(open, &stack),
		newStackOutputCommand(open, &stack), newStackHistoryCommand(open, &stack), newStackTagCommand(open, &stack),
		newStackRenameCommand(open, &stack), newStackSecretsCommand(open, &stack), newStackMigrateCommand(open, &stack), newStackGraphCommand(open, &stack),
	)
	cmd.AddCommand(newStackServiceCommands()...)
	return cmd
}

// stackShown selects the parts of a stack to show: its name only, or also the URNs and IDs of its resources, and the form.
type stackShown struct{ name, urns, ids, secrets, json bool }

// add registers the flags.
func (s *stackShown) add(f *pflag.FlagSet) {
	f.BoolVar(&s.name, "show-name", false, "print only the name of the stack")
	f.BoolVarP(&s.urns, "show-urns", "u", false, "show the URNs of the resources")
	f.BoolVarP(&s.ids, "show-ids", "i", false, "show the IDs of the resources")
	f.BoolVar(&s.secrets, "show-secrets", false, "show secret outputs, and the code of snippets")
	flags.AddJSON(f, &s.json, "write JSON")
}

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
	outputs := snapshot.Outputs()
	if show.secrets {
		if outputs, err = s.State.Readable().Outputs(ctx, false); err != nil {
			return err
		}
	}
	if outputs, err = knownOutputs(open.Terminal, outputs); err != nil {
		return err
	}
	if show.secrets {
		session.NoteDecryption(ctx, s, "", "pulumi stack")
	}
	latest, err := s.State.LastUpdate(ctx, func(backend.Update) bool { return true })
	if err != nil {
		return err
	}
	if show.json {
		return writeStackJSON(ctx, s, stackContents{snapshot, outputs, latest}, show.secrets)
	}
	fmt.Fprintf(out, "Current stack is %s:\n", s.Name())
	fmt.Fprintf(out, "    State: %s\n", s.State.File(ctx))
	fmt.Fprint(out, lastUpdateText(latest))
	if page := stackPage(s.Session, s.Ref); page != "" {
		fmt.Fprintf(out, "    More information at: %s\n", page)
	}
	if snapshot == nil || len(snapshot.Resources) == 0 {
		fmt.Fprintln(out, "    No resources currently in this stack")
		if err := writeSnippets(out, snapshot, show.secrets); err != nil {
			return err
		}
		return writePending(open.Terminal, snapshot)
	}
	fmt.Fprintf(out, "Current stack resources (%d):\n", len(snapshot.Resources))
	if err := writeResources(out, snapshot.Resources, show); err != nil {
		return err
	}
	if err := writeSnippets(out, snapshot, show.secrets); err != nil {
		return err
	}
	if err := writePending(open.Terminal, snapshot); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return writeOutputsTable(out, outputs, show.secrets)
}

// writeResources prints a table of types and names, with resources below their parents, and the requested details below
// each resource.
func writeResources(w io.Writer, resources []*state.Resource, show stackShown) error {
	table := rows.Of(resources)
	types := make([]string, len(table))
	width := len("TYPE")
	for i, r := range table {
		types[i] = r.Lead + format.Printable(string(r.Type))
		width = max(width, utf8.RuneCountInString(types[i]))
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "    %-*s  NAME\n", width, "TYPE")
	for i, r := range table {
		fmt.Fprintf(out, "    %-*s  %s%s\n", width, types[i], format.Printable(r.URN.Name()), resourceNote(r.Resource))
		if show.urns {
			fmt.Fprintf(out, "    %sURN: %s\n", r.Below, format.Printable(string(r.URN)))
		}
		if show.ids && r.ID != "" {
			fmt.Fprintf(out, "    %sID: %s\n", r.Below, format.Printable(r.ID))
		}
	}
	return out.Flush()
}

// resourceNote describes unusual properties of a resource.
func resourceNote(r *state.Resource) string {
	switch {
	case r.Delete:
		return " (old copy, to be deleted)"
	case r.PendingReplacement:
		return " (deleted, to be created again)"
	}
	return ""
}

// lastUpdateText describes the last operation on a stack and its time, "" if there was none.
func lastUpdateText(u *backend.Update) string {
	if u == nil {
		return ""
	}
	when := u.Ended()
	return fmt.Sprintf("    Last updated: %s (%s), %s %s\n", format.Ago(time.Since(when)), when.Format(time.DateTime+" UTC"),
		format.Printable(u.Kind), format.Printable(u.Result))
}

// writePending lists the pending operations, if there are any.
func writePending(t *terminal.Terminal, snapshot *state.Snapshot) error {
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
		fmt.Fprintf(&b, t.Named("\nOperations that were interrupted, `sluice recover` resolves them (%d):\n%s"), len(interrupted), strings.Join(interrupted, ""))
	}
	_, err := fmt.Fprint(t.Out, b.String())
	return err
}
