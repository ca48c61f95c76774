package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newLogsShowCommand(t *terminal.Terminal, stack *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show [FILE]",
		Aliases: []string{"decrypt"},
		Short:   "Print a log, the newest one if none is named",
		Long: "Print a log: the times, steps and messages of an operation. FILE is a path or a name that `sluice logs ls` lists; without it,\n" +
			"the newest log is printed. The log is an event log: `sluice report --event-log FILE` makes a report of it.",
		Args: rangeArgs(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return showLog(t, *stack, name, asJSON)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON, "write the events as JSON")
	cmd.Flags().Bool("latest", false, "accepted for scripts: the newest log is printed if none is named")
	cmd.Flags().Lookup("latest").Hidden = true
	return cmd
}

func showLog(t *terminal.Terminal, stack, name string, asJSON bool) (err error) {
	all, err := automaticLogs(t, stack)
	if err != nil {
		return err
	}
	path := ""
	for _, e := range all {
		if name == "" || e.Is(name) {
			path = e.Path
			break
		}
	}
	if path == "" && name == "" {
		return exit.Usagef("there are no logs; updates, destroys, refreshes and imports write some")
	}
	if path == "" {
		return exit.Usagef("there is no log %s; `%s logs ls` lists the logs", format.Printable(name), t.Command())
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it is only read
	next := loggedEvents(file, historyEventFlags{})
	if asJSON {
		return writeEventList(t.Data(), next)
	}
	if _, err := fmt.Fprintf(t.Err, "%s\n", format.Printable(path)); err != nil {
		return err
	}
	return display.WriteEvents(t.Out, next)
}
