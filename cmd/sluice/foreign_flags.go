package main

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// refuseOneHyphen returns an error for a long flag that is written with one hyphen, as in Terraform. It would be parsed as letters:
// "-refresh-only" as -r, -e and -f, and "-target=pet" as the flag -t with the value "arget=pet". Letters that spell a long flag are always
// taken for it. [unknownCommand] handles a command that does not exist.
func refuseOneHyphen(root *cobra.Command, args []string) error {
	cmd, args, err := root.Find(args)
	if err != nil || cmd.DisableFlagParsing {
		return nil //nolint:nilerr // the command is not known, which the caller finds out
	}
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // adds them to those of the command
	for i := 0; i < len(args); i++ {
		arg := args[i]
		letters, is := strings.CutPrefix(arg, "-")
		switch {
		case arg == "--", !is && cmd.HasSubCommands():
			return nil
		case !is || letters == "":
			continue
		}
		if name, _, _ := strings.Cut(letters, "="); !strings.HasPrefix(name, "-") && (cmd.Flags().Lookup(name) != nil || foreignFlags()[name] != nil) {
			return unknownFlag(cmd, fmt.Errorf("unknown flag: -%s", name), name)
		}
		if takesNext(cmd.Flags(), letters) {
			i++
		}
	}
	return nil
}

// takesNext reports whether the argument after a flag is its value. text is the flag without its first hyphen.
func takesNext(set *pflag.FlagSet, text string) bool {
	if name, long := strings.CutPrefix(text, "-"); long {
		f := set.Lookup(name)
		return f != nil && f.NoOptDefVal == ""
	}
	for i := range len(text) {
		switch f := set.ShorthandLookup(text[i : i+1]); {
		case f == nil:
			return false
		case f.NoOptDefVal == "":
			return i == len(text)-1
		}
	}
	return false
}

// unknownFlag returns the error for a flag that a command does not have, with suggestions.
func unknownFlag(cmd *cobra.Command, err error, name string) error {
	meant := meantFlag(cmd, name)
	if meant != "" {
		meant = "; did you mean " + meant + "?"
	}
	return exit.Usagef("%w%s\n`%s --help` lists the flags", err, meant, cmd.CommandPath())
}

// meantFlag returns the flag of a command, or the other command, that name may stand for; "" if there is none.
func meantFlag(cmd *cobra.Command, name string) string {
	for _, own := range foreignFlags()[name] {
		words, isFlag := strings.CutPrefix(own, "--")
		flag, _, _ := strings.Cut(words, " ")
		switch {
		case !isFlag:
			return "`" + cmd.Root().Name() + " " + own + "`"
		case cmd.Flags().Lookup(flag) != nil:
			return own
		}
	}
	if cmd.Flags().Lookup(name) != nil {
		return "--" + name // with one hyphen instead of two
	}
	best, least := "", max(1, len(name)/3)+1
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := levenshtein.Distance(name, f.Name, nil); d < least && !f.Hidden {
			best, least = "--"+f.Name, d
		}
	})
	return best
}

// foreignFlags maps flags of other tools, mostly Terraform's, to candidates in sluice: the first flag that the command has, or a command.
// Some have no candidate: they are listed only so that they are not parsed as letters.
func foreignFlags() map[string][]string {
	return map[string][]string{
		"auto-approve": {"--yes"}, "approve": {"--yes"}, "force": {"--yes"},
		"out": {"--save-plan", "preview --save-plan"}, "generate-config-out": {"import"},
		"var": {"--config", "config set"}, "var-file": {"--config-file"},
		"chdir": {"--cwd"}, "no-color": {"--color never"}, "input": {"--non-interactive"},
		"parallelism": {"--parallel"}, "dry-run": {"--preview-only", "preview"}, "detailed-exitcode": {"--expect-no-changes"},
		"refresh-only": {"refresh"}, "destroy": {"destroy"},
		"backend-config": {"login"}, "migrate-state": {"stack migrate"}, "upgrade": {"install"}, "reconfigure": {"login"},
		"raw": {}, "state": {}, "lock": {}, "lock-timeout": {}, "compact-warnings": {}, "state-out": {}, "backup": {}, "backend": {"login"},
	}
}
