package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// newRootCommand builds the tree of commands.
func newRootCommand(open *session.Opener) *cobra.Command {
	return newTree(&globalFlags{open: open})
}

// newTree builds the tree of commands with the given values of the flags that all commands have.
func newTree(global *globalFlags) *cobra.Command {
	open := global.open
	fresh := func() *cobra.Command { return newRootCommand(session.NewOpener(terminal.New(open.Terminal.Streams))) }
	root := &cobra.Command{
		Use:   open.Terminal.Command(), // in usage texts and completions
		Short: "Preview, make and destroy infrastructure that programs declare",
		Long: "sluice previews, makes and destroys infrastructure that programs declare.\n\n" +
			"It works in the directory of a Pulumi project, with its programs, provider plugins, configuration and state.\n" +
			"Every PULUMI_* environment variable can also be written SLUICE_*, which wins; PULUMI_OPTION_<FLAG> is the\n" +
			"default of a flag.",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return global.apply(cmd)
		},
		Version: "v" + sluice.Version,
		Args:    exactArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(unknownFlag)
	global.add(root.PersistentFlags())
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	group("deploy", "Deploying:",
		newNewCommand(open), newInstallCommand(open.Terminal), newPreviewCommand(open), newUpCommand(open), newWatchCommand(open), newDestroyCommand(open), newRefreshCommand(open),
		newImportCommand(open), newConvertCommand(open.Terminal), newWhyCommand(open), newCancelCommand(open), newRecoverCommand(open))
	group("keep", "Stacks, settings and where they are kept:",
		newStackCommand(open), newConfigCommand(open), newStateCommand(open), newLoginCommand(open.Terminal), newLogoutCommand(open.Terminal),
		newWhoamiCommand(open.Terminal), newPolicyCommand(open.Terminal), newSchemaCommand(open.Terminal), newPackageCommand(open.Terminal))
	group("tool", "The tool itself:",
		newAboutCommand(open), newPluginCommand(open), newVersionCommand(open.Terminal), newGenManCommand(open.Terminal, fresh), newGenMarkdownCommand(open.Terminal, fresh))
	group("service", "Of Pulumi's hosted service, to say what to use instead:", newServiceCommands()...)
	root.AddCommand(newHiddenServiceCommands()...)
	root.AddCommand(newGenCompletionCommand(open.Terminal))
	root.SetHelpCommandGroupID("tool")
	root.SetCompletionCommandGroupID("tool")
	complete(root, global)
	return root
}
