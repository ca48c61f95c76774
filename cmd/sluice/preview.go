package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
)

func newPreviewCommand(c *cli) *cobra.Command {
	f := &flags.Operation{}
	var importFile string
	cmd := &cobra.Command{
		Use:     "preview",
		Aliases: []string{"pre"},
		Short:   "Show what `up` would do",
		Long: "Run the program and show what `up` would do. Nothing is changed.\n\n" +
			"With --save-plan FILE what it shows is written down, and `up --plan FILE` does that and nothing more.\n\n" +
			"The exit status is 0 when the preview succeeds, and 7 with --expect-no-changes when there would be changes.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Confirmation.PreviewOnly = true
			kind := updateKind
			kind.previewed = func(o *operation, r *sluice.Result) error { return o.writeImportFile(cmd.Context(), importFile, r) }
			return c.operate(cmd.Context(), kind, f)
		},
	}
	f.AddUpdate(cmd.Flags())
	f.Plan.AddSave(cmd.Flags())
	cmd.Flags().StringVar(&importFile, "import-file", "", "write a file for \"sluice import\" with what would be created, to be completed with IDs")
	return cmd
}
