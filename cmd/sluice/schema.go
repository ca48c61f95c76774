package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/schemacheck"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newSchemaCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Check the schemas of packages",
		Args:  exactArgs(0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var dangling bool
	check := &cobra.Command{
		Use:   "check FILE|PACKAGE|FOLDER",
		Short: "Look for mistakes in the schema of a package",
		Long: "Look for mistakes in the schema of a package: names that are none, types that do not exist, references to nothing.\n" +
			"The schema is read from a file in JSON or YAML, from the standard input if it is \"-\", or asked of a provider, which is\n" +
			"named by its package, perhaps with a version as in random@4.0.0, or by the folder of its plugin.",
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkSchema(cmd.Context(), t, args[0], dangling)
		},
	}
	check.Flags().BoolVar(&dangling, "allow-dangling-references", false, "references within the package may lead to nothing")
	cmd.AddCommand(check)
	return cmd
}

func checkSchema(ctx context.Context, t *terminal.Terminal, source string, dangling bool) error {
	r, err := packages.NewReader(ctx, t)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // its error changes nothing
	text, err := r.ReadText(ctx, source)
	if err != nil {
		return err
	}
	problems, err := schemacheck.Check(text, dangling)
	if err != nil {
		return fmt.Errorf("%s is no schema: %w", source, err)
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
