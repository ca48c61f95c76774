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
	since     time.Duration
	noProgram bool
}

func newDriftCommand(open *session.Opener) *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "Say what is not as it is recorded, and change nothing",
		Long: "Read the resources of the stack from their providers, and say which are not as they are recorded and what `up --refresh`\n" +
			"would do about them. Nothing is changed, and nothing is recorded but when each resource was read.\n\n" +
			"With --since 12h, resources that this command has read within the last twelve hours are not read again.\n\n" +
			"The exit status is 0 if everything is as it is recorded, and 10 if something is not.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Confirmation.PreviewOnly = true
			doc, err := drift.Run(cmd.Context(), open, drift.Options{
				Operation: &f.Operation, JSON: f.json, Save: f.save, Since: f.since, NoProgram: f.noProgram,
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
	p.StringVar(&f.Display.EventLog, "event-log", "", "write the events of the reading to this file, one JSON object on each line")
	p.StringVar(&f.save, "save", "", "write what --json prints to this `file`, too")
	p.DurationVar(&f.since, "since", 0, "read only what was not read within this time: 12h")
	excludes(cmd, "since", "target")
	p.BoolVar(&f.noProgram, "no-program", false, "do not run the program, so that it is not said what `up --refresh` would do")
	return cmd
}
