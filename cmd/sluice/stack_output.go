package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/property"
)

type outputFlags struct{ asJSON, shell, showSecrets bool }

func newStackOutputCommand(open *session.Opener, stack *string) *cobra.Command {
	f := outputFlags{}
	cmd := &cobra.Command{
		Use:   "output [name]",
		Short: "Print the outputs of a stack, or one of them",
		Args:  rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return printOutputs(cmd.Context(), open, *stack, args, f)
		},
	}
	flags.AddJSON(cmd.Flags(), &f.asJSON, "write JSON")
	cmd.Flags().BoolVar(&f.shell, "shell", false, "write assignments for a shell")
	cmd.Flags().BoolVar(&f.showSecrets, "show-secrets", false, "show secret outputs")
	return cmd
}

func printOutputs(ctx context.Context, open *session.Opener, stackName string, args []string, f outputFlags) error {
	if f.asJSON && f.shell {
		return exit.Usagef("--json and --shell cannot be used together")
	}
	s, err := open.AnyStack(ctx, stackName, "")
	if err != nil {
		return err
	}
	outputs, err := s.State.Readable().Outputs(ctx, !f.showSecrets)
	if err != nil {
		return err
	}
	if f.showSecrets {
		session.NoteDecryption(ctx, s, "", "pulumi stack output")
	}
	out := open.Terminal.Data()
	if len(args) == 1 {
		v, ok := outputs.Get(args[0])
		if !ok {
			return fmt.Errorf("current stack does not have output property '%v'", args[0])
		}
		if err := checkReadable(args[0], v); err != nil {
			return err
		}
		if v.HasMark() {
			return fmt.Errorf("the output %q is not known: the state has only the mark of an unknown value; the next update of the stack records it", args[0])
		}
		return writeOutput(out, args[0], v, f)
	}
	if outputs, err = knownOutputs(open.Terminal, outputs); err != nil {
		return err
	}
	switch {
	case f.asJSON:
		plain := make(map[string]any, outputs.Len())
		for name, v := range outputs.All() {
			plain[name] = display.PlainJSON(v, f.showSecrets)
		}
		return format.JSON(out, plain)
	case f.shell:
		for name, v := range outputs.All() {
			if !isShellName(name) {
				open.Terminal.Warn("%s, so it is left out", notShellName(name))
				continue
			}
			if err := writeAssignment(out, name, v, f.showSecrets); err != nil {
				return err
			}
		}
		return nil
	}
	return writeOutputsTable(open.Terminal.Out, outputs, f.showSecrets)
}

func writeOutput(w io.Writer, name string, v property.Value, f outputFlags) error {
	switch {
	case f.asJSON:
		return format.JSON(w, display.PlainJSON(v, f.showSecrets))
	case f.shell:
		if !isShellName(name) {
			return errors.New(notShellName(name))
		}
		return writeAssignment(w, name, v, f.showSecrets)
	}
	_, err := fmt.Fprintln(w, outputText(v, f.showSecrets))
	return err
}

// isShellName reports whether a shell takes a name in an assignment. It would run any other text as a command.
func isShellName(name string) bool {
	for i, c := range name {
		isLetter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !isLetter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func notShellName(output string) string {
	return fmt.Sprintf("the name of the output %+q cannot be that of a shell variable", output)
}

func writeAssignment(w io.Writer, name string, v property.Value, showSecrets bool) error {
	_, err := fmt.Fprintf(w, "%s=%s\n", name, format.ShellQuote(outputText(v, showSecrets)))
	return err
}
