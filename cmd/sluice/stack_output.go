package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/property"
)

type outputFlags struct{ asJSON, shell, showSecrets bool }

func newStackOutputCommand(c *cli, stack *string) *cobra.Command {
	f := outputFlags{}
	cmd := &cobra.Command{
		Use:   "output [name]",
		Short: "Print the outputs of a stack, or one of them",
		Args:  rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.printOutputs(cmd.Context(), *stack, args, f)
		},
	}
	cmd.Flags().BoolVarP(&f.asJSON, "json", "j", false, "write JSON")
	cmd.Flags().BoolVar(&f.shell, "shell", false, "write assignments for a shell")
	cmd.Flags().BoolVar(&f.showSecrets, "show-secrets", false, "show secret outputs")
	return cmd
}

func (c *cli) printOutputs(ctx context.Context, stackName string, args []string, f outputFlags) error {
	if f.asJSON && f.shell {
		return exit.Usagef("--json and --shell exclude each other")
	}
	s, err := c.openStack(ctx, stackName, "")
	if err != nil {
		return err
	}
	outputs, err := s.stack.Outputs(ctx, !f.showSecrets)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		v, ok := outputs.Get(args[0])
		if !ok {
			return fmt.Errorf("current stack does not have output property '%v'", args[0])
		}
		return c.printOutput(args[0], v, f)
	}
	switch {
	case f.asJSON:
		out := make(map[string]any, outputs.Len())
		for name, v := range outputs.All() {
			out[name] = display.PlainJSON(v, f.showSecrets)
		}
		return format.JSON(c.Out, out)
	case f.shell:
		for name, v := range outputs.All() {
			if err := c.printAssignment(name, v, f.showSecrets); err != nil {
				return err
			}
		}
		return nil
	}
	return c.writeOutputsTable(outputs, f.showSecrets)
}

func (c *cli) printOutput(name string, v property.Value, f outputFlags) error {
	switch {
	case f.asJSON:
		return format.JSON(c.Out, display.PlainJSON(v, f.showSecrets))
	case f.shell:
		return c.printAssignment(name, v, f.showSecrets)
	}
	_, err := fmt.Fprintln(c.Out, outputText(v, f.showSecrets))
	return err
}

// outputText is a text as it is, and everything else as JSON on one line.
func outputText(v property.Value, showSecrets bool) string {
	plain := display.PlainJSON(v, showSecrets)
	if text, ok := plain.(string); ok {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plain); err != nil {
		return fmt.Sprint(plain)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (c *cli) printAssignment(name string, v property.Value, showSecrets bool) error {
	_, err := fmt.Fprintf(c.Out, "%s=%s\n", name, format.ShellQuote(outputText(v, showSecrets)))
	return err
}

func (c *cli) writeOutputsTable(outputs property.Map, showSecrets bool) error {
	if outputs.Len() == 0 {
		_, err := fmt.Fprintln(c.Out, "No output values currently in this stack")
		return err
	}
	fmt.Fprintf(c.Out, "Current stack outputs (%d):\n", outputs.Len())
	rows := [][2]string{{"    OUTPUT", "VALUE"}}
	for name, v := range outputs.All() {
		rows = append(rows, [2]string{"    " + format.Printable(name), outputText(v, showSecrets)})
	}
	return format.Table(c.Out, rows)
}
