package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/drift"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

// driftFlags are the flags of drift besides those of operations.
type driftFlags struct {
	flags.Operation
	json      bool
	save      string
	since     string
	noProgram bool
}

func newDriftCommand(open *session.Opener) *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "Show how resources differ from the recorded state, and change nothing",
		Long: "Read the resources of the stack from their providers, and report how they differ from the recorded state and what\n" +
			"`up --refresh` would do about it. Nothing is changed. The command only records when it has read each resource.\n\n" +
			"With --since 12h, it skips resources that it or a refresh has read within the last twelve hours. With --sample 10%, it reads a tenth\n" +
			"of the others, chosen at random, and prints the --sample-seed that chooses the same ones again. Both together check all\n" +
			"resources in the course of time.\n\n" +
			"The exit status is 0 if there is no drift, and 10 if there is.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Confirmation.PreviewOnly = true
			var since time.Time
			if f.since != "" {
				var err error
				if since, err = flags.Moment("since", f.since, time.Now()); err != nil {
					return err
				}
			}
			doc, err := drift.Run(cmd.Context(), open, drift.Options{
				Operation: &f.Operation, JSON: f.json, Save: f.save, Since: since, NoProgram: f.noProgram,
			})
			if err != nil || doc.Moved == 0 {
				return err
			}
			return &exit.Error{Status: exit.Drifted, Err: errors.New("resources are not as they are recorded"), Quiet: true}
		},
	}
	p := cmd.Flags()
	f.Stack.Add(p)
	f.Settings.Add(p)
	f.Run.Add(p)
	f.History.Add(p)
	f.Targeting.Add(p)
	flags.AddJSON(p, &f.json, "write JSON")
	flags.AddFile(p, &f.Display.EventLog, "event-log", "write the events of the reading to this file, one JSON object on each line")
	flags.AddFile(p, &f.save, "save", "write what --json prints to this `file`, too")
	p.StringVar(&f.since, "since", "", "read only what was not read since this `time`: how long ago as 12h, a date as 2026-01-31, or a time as 2026-01-31T12:00:00Z")
	excludes(cmd, "since", "target")
	f.Sample.Add(p, "read")
	for _, chosen := range []string{"target", "target-dependents", "exclude"} {
		excludes(cmd, "sample", chosen)
	}
	p.BoolVar(&f.noProgram, "no-program", false, "do not run the program, and do not show what \"up --refresh\" would do")
	return cmd
}
