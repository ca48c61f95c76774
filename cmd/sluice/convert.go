package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/conversion"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newConvertCommand(t *terminal.Terminal) *cobra.Command {
	var o conversion.Options
	cmd := &cobra.Command{
		Use:   "convert --language LANGUAGE [-- ARGUMENT...]",
		Short: "Convert a program of another tool or to another language",
		Long: "Convert the program in this directory to another language. A converter plugin translates the program to PCL, an\n" +
			"intermediate language. A language plugin then generates the program in typescript, python, go, csharp, java or yaml.\n" +
			"--language pcl writes the PCL. Missing plugins are installed.\n\n" +
			"Existing files are not changed, unless --force is given. If the program cannot be generated, the PCL is kept in a\n" +
			"folder, and the command shows how to continue from there.",
		Example: "  sluice convert --from terraform --language typescript --out ../shop\n" +
			"  sluice convert --from yaml --language go --out ../shop\n" +
			"  sluice convert --from terraform --language pcl --out pcl",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return conversion.Program(cmd.Context(), t, o)
		},
	}
	p := cmd.Flags()
	p.StringVar(&o.From, "from", "yaml", "what to convert from: yaml, terraform, pcl, or the name of another converter plugin")
	p.StringVar(&o.Language, "language", "", "the language to write")
	p.StringVar(&o.Out, "out", ".", "the folder to write to; created if necessary")
	p.StringVar(&o.Name, "name", "", "the name of the project (default that of the converted project, or of this directory)")
	p.StringSliceVar(&o.Mappings, "mappings", nil, "files with mappings of names, each named after a provider of the other tool; separated by commas")
	p.BoolVar(&o.Strict, "strict", false, "fail if the program contains unknown names")
	p.BoolVar(&o.GenerateOnly, "generate-only", false, "only write the files: install nothing")
	p.BoolVarP(&o.Force, "force", "f", false, "overwrite existing files")
	return cmd
}
