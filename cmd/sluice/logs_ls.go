package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newLogsListCommand(t *terminal.Terminal, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the logs, the newest first",
		Args:    exactArgs(0),
		RunE:    func(*cobra.Command, []string) error { return listLogs(t, *stack, asJSON) },
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

// logEntry is a log in JSON.
type logEntry struct {
	File      string `json:"file"`
	Path      string `json:"path"`
	Stack     string `json:"stack"`
	Timestamp string `json:"timestamp"`
	PID       string `json:"pid"`
	Command   string `json:"command"`
	Size      int64  `json:"size"`
}

func listLogs(t *terminal.Terminal, stack string, asJSON bool) error {
	all, err := automaticLogs(t, stack)
	if err != nil {
		return err
	}
	if asJSON {
		entries := make([]logEntry, 0, len(all))
		for _, e := range all {
			entries = append(entries, logEntry{filepath.Base(e.Path), e.Path, e.Stack, format.Time(e.Began), e.PID, e.Operation, e.Size})
		}
		return format.JSON(t.Data(), entries)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(t.Out, "There are no logs.")
		return err
	}
	var b strings.Builder
	row := func(began, operation, stack, size, file string) {
		fmt.Fprintf(&b, "%-23s  %-15s  %-30s  %-8s  %s\n", began, operation, stack, size, file)
	}
	row("BEGAN", "OPERATION", "STACK", "SIZE", "FILE")
	for _, e := range all {
		row(e.Began.Format(time.DateTime+" UTC"), format.Printable(e.Operation), format.Printable(e.Stack), format.Bytes(e.Size), format.Printable(e.Path))
	}
	_, err = fmt.Fprint(t.Out, b.String())
	return err
}
