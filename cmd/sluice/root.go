package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// cli is one run of the command line: its terminal and global flags.
type cli struct {
	*terminal.Terminal
	cwd                      string
	disableIntegrityChecking bool
	checkpoints              sluice.CheckpointCadence // how often an operation writes the stack file
	deciding                 bool                     // the command is the decision about a journal
	undecided                map[string]bool          // the stacks whose journals the user was warned of
}

func newRootCommand(c *cli) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Preview, make and destroy infrastructure that programs declare",
		Long: "sluice previews, makes and destroys infrastructure that programs declare.\n\n" +
			"It works in the directory of a Pulumi project, with its programs, provider plugins, configuration and state.\n" +
			"Every PULUMI_* environment variable can also be written SLUICE_*, which wins; PULUMI_OPTION_<FLAG> is the\n" +
			"default of a flag.",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return c.prepare(cmd)
		},
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&c.Color, "color", "auto", "when to use colours: always, never, raw (as never) or auto (on a terminal)")
	f.StringVarP(&c.cwd, "cwd", "C", "", "run as if sluice had been started in this directory")
	f.BoolVar(&c.NonInteractive, "non-interactive", false, "ask nothing, even on a terminal")
	f.BoolVar(&c.disableIntegrityChecking, "disable-integrity-checking", false, "do not check that the state is consistent")
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	group("deploy", "Deploying:",
		newNewCommand(c), newPreviewCommand(c), newUpCommand(c), newDestroyCommand(c), newRefreshCommand(c), newImportCommand(c), newWhyCommand(c),
		newCancelCommand(c), newRecoverCommand(c))
	group("keep", "Stacks, settings and where they are kept:",
		newStackCommand(c), newConfigCommand(c), newStateCommand(c), newLoginCommand(c), newLogoutCommand(c), newWhoamiCommand(c))
	group("tool", "The tool itself:",
		newAboutCommand(c), newVersionCommand(c), newGenManCommand(c), newGenMarkdownCommand(c))
	root.AddCommand(newGenCompletionCommand(c))
	root.SetHelpCommandGroupID("tool")
	root.SetCompletionCommandGroupID("tool")
	c.complete(root)
	return root
}

// prepare applies the environment to the flags and changes to the directory of --cwd.
func (c *cli) prepare(cmd *cobra.Command) error {
	if err := flags.FromEnvironment(cmd.Flags(), c.Lookup); err != nil {
		return err
	}
	switch c.Color {
	case "always", "never", "raw", "auto":
	default:
		return exit.Usagef("--color %s: write always, never, raw or auto", c.Color)
	}
	if c.cwd != "" {
		if err := os.Chdir(c.cwd); err != nil {
			return exit.Usagef("--cwd: %w", err)
		}
	}
	return nil
}

// warnUndecided warns of a journal that needs a decision, unless this is it.
func (c *cli) warnUndecided(err *sluice.StackJournalError) {
	if c.deciding {
		return
	}
	if c.undecided == nil {
		c.undecided = map[string]bool{}
	}
	c.undecided[err.Stack] = true
	c.Warn("%v", err)
}
