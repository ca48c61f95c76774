package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/newproject"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newNewCommand(open *session.Opener) *cobra.Command {
	var f newproject.Options
	var list bool
	cmd := &cobra.Command{
		Use:     "new [TEMPLATE]",
		Aliases: []string{"create", "setup"},
		Short:   "Create a project and a stack from a template",
		Long: "Create a project from a template in an empty directory, create a stack for it, and install its dependencies.\n\n" +
			"  sluice new yaml\n" +
			"  sluice new typescript --name shop --dir shop --yes\n\n" +
			"--list-templates lists the templates that come with sluice. Any folder with a Pulumi.yaml is a template, too:\n" +
			"${PROJECT} and ${DESCRIPTION} in its files are replaced, and the section `template` of its Pulumi.yaml may contain\n" +
			"a description and the settings to ask for. Templates are not downloaded.\n\n" +
			"At a terminal, the command asks for missing values; --yes takes the defaults. If the stack cannot be created, no\n" +
			"file is left. If the installation fails, the project and the stack stay.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return listTemplates(open.Terminal)
			}
			if len(args) == 1 {
				f.Template = args[0]
			}
			return newproject.New(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	p.StringVarP(&f.Name, "name", "n", "", "the name of the project")
	p.StringVarP(&f.Description, "description", "d", "", "the description of the project")
	p.StringVarP(&f.Stack, "stack", "s", "", "the stack, which is created if it does not exist (default dev)")
	p.StringVar(&f.Directory, "dir", "", "the folder of the project; created if necessary (default the current directory)")
	p.StringVar(&f.SecretsProvider, "secrets-provider", "default", "how secrets are encrypted: passphrase, default (the same), or the URL of a key service")
	f.Settings.Add(p)
	flags.AddRuntimeOptions(p, &f.RuntimeOptions)
	p.BoolVarP(&f.Force, "force", "f", false, "write into a directory that is not empty, and overwrite existing files")
	flags.AddYes(p, &f.Yes, "ask nothing and take the defaults")
	p.BoolVarP(&f.GenerateOnly, "generate-only", "g", false, "only write the files: create no stack and install nothing")
	p.BoolVarP(&list, "list-templates", "l", false, "list the templates that come with sluice")
	p.BoolP("offline", "o", false, "for Pulumi's sake: templates are never downloaded")
	p.BoolP("template-mode", "t", false, "accepted for scripts: a template is always used")
	for _, name := range []string{"offline", "template-mode"} {
		p.Lookup(name).Hidden = true
	}
	return cmd
}

func listTemplates(t *terminal.Terminal) error {
	var rows [][2]string
	for _, name := range templates.Projects().Names() {
		found, err := templates.Projects().Find(name)
		if err != nil {
			return err
		}
		rows = append(rows, [2]string{found.Name, found.Description})
	}
	return format.Table(t.Out, rows)
}
