package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newPackageInfoCommand(t *terminal.Terminal) *cobra.Command {
	var f packageFlags
	var q packages.Question
	cmd := &cobra.Command{
		Use:   "info SOURCE [PARAMETER]...",
		Short: "Show the content of a package",
		Long: "Show what is in a package, in one of its modules, or what a resource or a function takes and gives.\n" +
			"`sluice package --help` says what SOURCE may be.",
		Example: "  sluice package info random\n  sluice package info random --resource RandomPet",
		Args:    leastArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.read(cmd.Context(), t, args, func(_ *packages.Reader, p *packages.Package) error {
				return p.Describe(t.Out, q)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVarP(&q.Module, "module", "m", "", "the module")
	cmd.Flags().StringVarP(&q.Resource, "resource", "r", "", "the resource")
	cmd.Flags().StringVarP(&q.Function, "function", "f", "", "the function")
	return cmd
}
