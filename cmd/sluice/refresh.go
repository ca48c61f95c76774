package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state"
)

func newRefreshCommand(open *session.Opener) *cobra.Command {
	f := &flags.Operation{}
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Read the resources of the stack and record how they are now",
		Long: "Read every resource of the stack from its provider and record the result. No resource is changed, only the state.\n" +
			"The program does not run, unless --run-program is given: then the resources are read with the provider\n" +
			"configuration of the program.\n\n" +
			"Reading cannot tell what became of interrupted creates. At a terminal, the command asks about each of them;\n" +
			"--clear-pending-creates and --import-pending-creates answer in scripts.\n\n" +
			"With --sample 10%, only a tenth of the resources is read, chosen at random. A message contains the --sample-seed that\n" +
			"chooses the same ones again.\n\n" +
			"A preview shows what would be recorded and asks for confirmation, unless --yes is given.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.CheckProgram(); err != nil {
				return err
			}
			return refresh(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	f.Add(p)
	flags.AddTiming(p)
	f.Reports.Add(p)
	f.Targeting.Add(p)
	f.Targeting.AddExcludeDependents(p)
	f.Sample.Add(p, "read")
	for _, chosen := range []string{"target", "target-dependents", "exclude", "exclude-dependents"} {
		excludes(cmd, "sample", chosen)
	}
	f.Program.AddRun(p, "run the program, and read with the provider configuration of the program")
	f.AddPolicies(p)
	f.AddConfirmation(p)
	f.Confirmation.AddExpectNoChanges(p)
	f.Confirmation.AddPreviewOnly(p, "only show what would be recorded")
	excludes(cmd, "yes", "preview-only")
	excludes(cmd, "skip-preview", "preview-only")
	f.Creates.AddRefresh(p)
	return cmd
}

func refresh(ctx context.Context, open *session.Opener, f *flags.Operation) error {
	s, err := operate.OpenAny(ctx, open, f)
	if err != nil {
		return err
	}
	job, err := operate.Prepare(ctx, s, operate.Refresh(), f)
	if err != nil {
		return err
	}
	sample, err := operate.TargetSample(ctx, job, func(*state.Resource) bool { return true })
	if err != nil {
		return err
	}
	operate.NoteSample(job, sample)
	mayAsk := !f.Confirmation.Yes && !f.Confirmation.PreviewOnly && !f.Display.JSON() && s.Session.Terminal.Interactive()
	if job.Creates, err = pending.ForRefresh(ctx, s, &f.Creates, mayAsk); err != nil {
		return err
	}
	return operate.Run(ctx, job)
}
