package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// newGenCompletionCommand returns Pulumi's form of the command completion.
func newGenCompletionCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:       "gen-completion SHELL",
		Short:     "Write the completion script of a shell, as `completion` does",
		Hidden:    true,
		Args:      exactArgs(1),
		ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return writeBashCompletion(root, t.Data(), true)
			case "fish":
				return root.GenFishCompletion(t.Data(), true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(t.Data())
			case "zsh":
				return root.GenZshCompletion(t.Data())
			}
			return exit.Usagef("there is no completion for the shell %q: write bash, fish, powershell or zsh", args[0])
		},
	}
}
