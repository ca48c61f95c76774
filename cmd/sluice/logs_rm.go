package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/autolog"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newLogsRemoveCommand(t *terminal.Terminal, stack *string) *cobra.Command {
	var f logsRemoved
	cmd := &cobra.Command{
		Use:     "rm [FILE]...",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove logs",
		Long: "Remove logs: the named ones, those of a stack with --stack, those from before a time with --before, or all with --all.\n" +
			"Several conditions select the logs that meet all of them.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.names = args
			return removeLogs(cmd.Context(), t, *stack, f)
		},
	}
	cmd.Flags().StringVar(&f.before, "before", "", "remove logs that are older than this `time`: a date as 2026-01-31, a time as 2026-01-31T12:00:00Z, or how long ago as 24h")
	cmd.Flags().BoolVar(&f.all, "all", false, "remove all logs")
	flags.AddYes(cmd.Flags(), &f.yes, "do not ask for confirmation")
	return cmd
}

// logsRemoved selects the logs to remove.
type logsRemoved struct {
	names    []string
	before   string
	all, yes bool
}

func removeLogs(ctx context.Context, t *terminal.Terminal, stack string, f logsRemoved) error {
	if !f.all && f.before == "" && stack == "" && len(f.names) == 0 {
		return exit.Usagef("name logs, or select them with --stack, --before or --all; `%s logs ls` lists them", t.Command())
	}
	before, err := timeBefore(f.before, time.Now())
	if err != nil {
		return err
	}
	all, err := automaticLogs(t, stack)
	if err != nil {
		return err
	}
	for _, name := range f.names {
		if !slices.ContainsFunc(all, func(e autolog.Entry) bool { return e.Is(name) }) {
			return exit.Usagef("there is no log %s; `%s logs ls` lists the logs", format.Printable(name), t.Command())
		}
	}
	chosen := slices.DeleteFunc(all, func(e autolog.Entry) bool {
		named := len(f.names) == 0 || slices.ContainsFunc(f.names, e.Is)
		return !named || !e.Began.Before(before)
	})
	if len(chosen) == 0 {
		_, err := fmt.Fprintln(t.Out, "There are no such logs.")
		return err
	}
	if !f.yes {
		if !t.Interactive() {
			return exit.Usagef("--yes is needed to remove logs without a terminal")
		}
		question := fmt.Sprintf("Remove %s?", format.Plural(len(chosen), "log", "logs"))
		if confirmed, err := terminal.Confirm(ctx, t, question); err != nil || !confirmed {
			return exit.Cancelledf("no log was removed")
		}
	}
	for _, e := range chosen {
		if err := autolog.Remove(e); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(t.Out, "Removed %s\n", format.Printable(e.Path)); err != nil {
			return err
		}
	}
	return nil
}

// timeBefore returns the time that a text means; the end of all times for "".
func timeBefore(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now.AddDate(1000, 0, 0), nil
	}
	return flags.Moment("before", text, now)
}
