package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
)

// exactArgs is like cobra.ExactArgs, with a clearer message and the exit status for usage errors.
func exactArgs(n int) cobra.PositionalArgs { return rangeArgs(n, n) }

// rangeArgs is like cobra.RangeArgs, with a clearer message and the exit status for usage errors.
func rangeArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			return wrongArguments(cmd, "missing argument")
		case n > most && cmd.HasSubCommands():
			return unknownCommand(cmd, args[0])
		case n > most:
			return wrongArguments(cmd, fmt.Sprintf("unexpected argument %q", args[most]))
		}
		return nil
	}
}

// leastArgs accepts n arguments and more.
func leastArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return wrongArguments(cmd, "missing argument")
		}
		return nil
	}
}

func wrongArguments(cmd *cobra.Command, problem string) error {
	return exit.Usagef("%s\nusage: %s\n`%s --help` describes the command", problem, cmd.UseLine(), cmd.CommandPath())
}

// excludes makes a command refuse to have both flags.
func excludes(cmd *cobra.Command, one, other string) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return exit.Usagef("--%s and --%s cannot be used together", one, other)
		}
		if before == nil {
			return nil
		}
		return before(cmd, args)
	}
}

// unknownCommand returns an error for an unknown subcommand, with suggestions.
func unknownCommand(cmd *cobra.Command, name string) error {
	meant := ""
	if near := meantCommands(cmd, name); len(near) > 0 {
		meant = fmt.Sprintf("; did you mean `%s`?", strings.Join(near, "` or `"))
	}
	return exit.Usagef("unknown command %q for %q%s\n`%s --help` lists the commands", name, cmd.CommandPath(), meant, cmd.CommandPath())
}

// meantCommands returns the commands that name may stand for: the counterpart of another tool's command, else those with a
// similar name.
func meantCommands(cmd *cobra.Command, name string) []string {
	if line, known := foreignCommands()[strings.TrimPrefix(cmd.CommandPath()+" "+name, cmd.Root().Name()+" ")]; known {
		return []string{cmd.Root().Name() + " " + line}
	}
	cmd.SuggestionsMinimumDistance = 2
	var out []string
	for _, near := range cmd.SuggestionsFor(name) {
		out = append(out, cmd.CommandPath()+" "+near)
	}
	return out
}

// foreignCommands maps commands of other tools, and commands that other tools have in another place, to those of sluice.
func foreignCommands() map[string]string {
	return map[string]string{
		"plan": "preview", "diff": "preview", "apply": "up", "deploy": "up", "init": "new", "workspace": "stack", "select": "stack select",
		"output": "stack output", "outputs": "stack output", "export": "stack export", "history": "stack history",
		"ls": "stack ls", "list": "stack ls", "rm": "stack rm", "taint": "state taint", "untaint": "state untaint", "show": "stack",
		"force-unlock": "cancel", "unlock": "cancel", "validate": "preview", "set": "config set", "synth": "preview",
		"delete": "destroy", "bootstrap": "stack init", "state list": "stack", "state ls": "stack", "state show": "state get",
		"state pull": "stack export", "state push": "stack import", "stack show": "stack", "stack destroy": "destroy",
		"config list": "config", "config ls": "config", "config unset": "config rm",
	}
}

// wrongFlag returns the error for a flag that cannot be parsed. It suggests similar flags. It returns no error of its own for a
// flag that follows an unknown command.
func wrongFlag(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		return unknownCommand(cmd, words[0])
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return flags.InvalidValue("--"+f.Name, f, invalid.GetValue(), invalid.Unwrap())
	}
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return exit.AsUsage(err)
	}
	name := missing.GetSpecifiedName()
	if letters := missing.GetSpecifiedShortnames(); letters != "" {
		name = strings.SplitN(letters, "=", 2)[0] // "-skip-previw" is read as the letters s, k, i, ...
	}
	return unknownFlag(cmd, err, name)
}
