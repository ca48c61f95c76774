package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// exactArgs is cobra.ExactArgs with words for people and the status of a wrong invocation.
func exactArgs(n int) cobra.PositionalArgs { return rangeArgs(n, n) }

// rangeArgs is cobra.RangeArgs with words for people and the status of a wrong invocation.
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

// unknownCommand says that a command has no such subcommand, and which was probably meant.
func unknownCommand(cmd *cobra.Command, name string) error {
	meant := ""
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		meant = fmt.Sprintf("; did you mean `%s %s`?", cmd.CommandPath(), strings.Join(near, "` or `"+cmd.CommandPath()+" "))
	}
	return exit.Usagef("unknown command %q for %q%s\n`%s --help` lists the commands", name, cmd.CommandPath(), meant, cmd.CommandPath())
}
