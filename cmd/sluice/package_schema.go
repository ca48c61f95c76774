package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

func newPackageSchemaCommand(t *terminal.Terminal) *cobra.Command {
	var f packageFlags
	cmd := &cobra.Command{
		Use:   "get-schema SOURCE [PARAMETER]...",
		Short: "Print the schema of a package",
		Long:  "Print the schema of a package as JSON. `sluice package --help` says what SOURCE may be.",
		Example: "  sluice package get-schema random@4.0.0\n  sluice package get-schema ./my-components\n" +
			"  sluice package get-schema terraform-provider -- hashicorp/null 3.2.0",
		Args: leastArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.read(cmd.Context(), t, args, func(_ *packages.Reader, p *packages.Package) error {
				var b bytes.Buffer
				if err := json.Indent(&b, p.Schema, "", "  "); err != nil {
					return err
				}
				_, err := fmt.Fprintln(printable.JSONWriter{Out: t.Data()}, b.String())
				return err
			})
		},
	}
	f.add(cmd)
	return cmd
}
