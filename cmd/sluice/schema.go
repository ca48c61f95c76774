package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/schemacheck"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/docs/schemas"
)

func newSchemaCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [" + strings.Join(schemas.Names(), "|") + "]",
		Short: "Print JSON schemas of files and outputs, or check the schema of a package",
		Long: "Print the JSON schema of a document: of plans (--save-plan), of the lines of event logs (--event-log), of reports\n" +
			"(--report FILE.json), of the output of `sluice why --json`, or of YAML programs, for editors. The $id of a schema ends\n" +
			"in its version. Additional keys are valid, and adding keys does not change the version.",
		Example:   "  sluice schema program > ~/.config/sluice-program.json\n  sluice schema check random@4.0.0",
		Args:      rangeArgs(0, 1),
		ValidArgs: schemas.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return printSchema(t, args[0])
		},
	}
	var f packageFlags
	var dangling bool
	check := &cobra.Command{
		Use:   "check FILE|PACKAGE|FOLDER",
		Short: "Look for mistakes in the schema of a package",
		Long: "Look for mistakes in the schema of a package: invalid names, types that do not exist, references to nothing. The\n" +
			"schema comes from a file in JSON or YAML, from the standard input (\"-\"), or from a provider. Name a provider by its\n" +
			"package, with a version if you like (random@4.0.0), or by the folder of its plugin.",
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkSchema(cmd.Context(), t, args[0], f, dangling)
		},
	}
	check.Flags().BoolVar(&dangling, "allow-dangling-references", false, "allow references within the package to types that do not exist")
	f.add(check)
	cmd.AddCommand(check)
	return cmd
}

// printSchema prints one of sluice's own schemas.
func printSchema(t *terminal.Terminal, name string) error {
	text, found := schemas.Text(name)
	if !found {
		return exit.Usagef("there is no schema %q; there are those of %s, and `sluice schema check` for packages", name,
			strings.Join(schemas.Names(), ", "))
	}
	_, err := t.Data().Write(text)
	return err
}

func checkSchema(ctx context.Context, t *terminal.Terminal, source string, f packageFlags, dangling bool) error {
	of, err := f.parameters(nil)
	if err != nil {
		return err
	}
	r, err := packages.NewReader(t)
	if err != nil {
		return err
	}
	text, err := r.ReadText(ctx, source, of, f.server)
	if err != nil {
		return err
	}
	problems, err := schemacheck.Check(text, dangling)
	if err != nil {
		return fmt.Errorf("%s is not a valid schema: %w", source, err)
	}
	for _, p := range problems {
		fmt.Fprintf(t.Err, "error: %s\n", p)
	}
	switch n := len(problems); n {
	case 0:
		_, err = fmt.Fprintln(t.Out, "The schema has no mistakes")
		return err
	case 1:
		return errors.New("the schema has 1 mistake")
	default:
		return fmt.Errorf("the schema has %d mistakes", n)
	}
}
