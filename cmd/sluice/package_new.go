package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/newproject"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newPackageNewCommand(t *terminal.Terminal) *cobra.Command {
	var o newproject.PackageOptions
	cmd := &cobra.Command{
		Use:     "new [TEMPLATE]",
		Aliases: []string{"create", "setup"},
		Short:   "Create a package of components from a template",
		Long: "Make a package of components from a template in an empty directory, and install what it needs. The templates\n" +
			"component-yaml, component-nodejs and component-python come with sluice. A folder with a PulumiPlugin.yaml is a template,\n" +
			"too: ${PROJECT} and ${DESCRIPTION} in its files are replaced. Templates are not downloaded.",
		Example: "  sluice package new component-yaml --dir greetings && sluice package add ./greetings",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Template = args[0]
			}
			return newproject.NewPackage(cmd.Context(), t, o)
		},
	}
	p := cmd.Flags()
	p.StringVarP(&o.Name, "name", "n", "", "the name of the package (default that of the folder)")
	p.StringVarP(&o.Description, "description", "d", "", "the description of the package")
	p.StringVar(&o.Directory, "dir", "", "the folder of the package; created if necessary (default the current directory)")
	p.BoolVarP(&o.Force, "force", "f", false, "write into a directory that is not empty, and overwrite existing files")
	p.BoolVarP(&o.GenerateOnly, "generate-only", "g", false, "only write the files: install nothing")
	flags.AddYes(p, &o.Yes, "ask nothing and take the defaults")
	p.BoolP("offline", "o", false, "accepted for scripts: templates are never downloaded")
	p.Lookup("offline").Hidden = true
	return cmd
}
