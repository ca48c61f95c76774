package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// exactArgs is like cobra.ExactArgs, with a clearer message and the exit status for usage errors.
func exactArgs(n int) cobra.PositionalArgs { return rangeArgs(n, n) }

// rangeArgs is like cobra.RangeArgs, with a clearer message and the exit status for usage errors.
func rangeArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			return exit.Usagef("something is missing; write `%s`, see `%s --help`", cmd.UseLine(), cmd.CommandPath())
		case n > most && cmd.HasSubCommands():
			return unknownCommand(cmd, args[0])
		case n > most:
			return exit.Usagef("%q is too much; write `%s`, see `%s --help`", args[most], cmd.UseLine(), cmd.CommandPath())
		}
		return nil
	}
}

// unknownCommand returns an error for a subcommand that does not exist. It suggests a similar one.
func unknownCommand(cmd *cobra.Command, name string) error {
	meant := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		meant = fmt.Sprintf("; did you mean `%s %s`?", cmd.CommandPath(), strings.Join(near, "` or `"+cmd.CommandPath()+" "))
	}
	return exit.Usagef("unknown command %q for %q%s\n`%s --help` lists the commands", name, cmd.CommandPath(), meant, cmd.CommandPath())
}
