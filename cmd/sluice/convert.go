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
		Short: "Convert a program of another tool, or write one in another language",
		Long: "Convert the program in this directory. A converter plugin reads it and writes PCL, a language from which the plugin of\n" +
			"a language writes programs: typescript, python, go, csharp, java or yaml. --language pcl leaves the PCL. Plugins that\n" +
			"are missing are installed.\n\n" +
			"Files that exist are not changed, unless --force is given. If the program cannot be written in the language, the PCL\n" +
			"is left in a folder, and the command that goes on from there is shown.",
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
	p.StringVar(&o.Out, "out", ".", "the folder to write to; made if need be")
	p.StringVar(&o.Name, "name", "", "the name of the project (default that of the converted project, or of this directory)")
	p.StringSliceVar(&o.Mappings, "mappings", nil, "files with mappings of names, each called like the other tool's provider; separated by commas")
	p.BoolVar(&o.Strict, "strict", false, "fail where a name of the program is not known")
	p.BoolVar(&o.GenerateOnly, "generate-only", false, "only write the files: install nothing")
	p.BoolVarP(&o.Force, "force", "f", false, "write over files that are there")
	return cmd
}
