package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newPackageAddCommand(t *terminal.Terminal) *cobra.Command {
	f := packageFlags{prepares: true}
	var language string
	cmd := &cobra.Command{
		Use:   "add SOURCE [PARAMETER]...",
		Short: "Add a package to the project",
		Long: "Add a package to the project, or to the plugin, of this directory. The command installs the dependencies of a plugin\n" +
			"in a folder, adds the package to `packages` in Pulumi.yaml, generates its SDK into the folder sdks, makes the program\n" +
			"use the SDK, and installs the dependencies of the program.\n\n" +
			"`sluice package --help` explains SOURCE.\n\n" +
			"The language plugin (pulumi-language-nodejs and so on) generates the SDK. YAML programs need none.",
		Example: "  sluice package add ./my-components\n  sluice package add terraform-provider -- hashicorp/null 3.2.0\n" +
			"  sluice package add kubernetes --extension ./crds.yaml",
		Args: leastArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := packages.FindTarget(language)
			if err != nil {
				return err
			}
			return f.read(cmd.Context(), t, args, func(r *packages.Reader, p *packages.Package) error {
				return r.Add(cmd.Context(), p, target)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&language, "language", "", "the language of the SDK, if there is no project")
	return cmd
}
