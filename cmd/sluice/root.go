package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// newRootCommand builds the tree of commands.
func newRootCommand(open *session.Opener) *cobra.Command {
	return newTree(&globalFlags{open: open})
}

// exitStatuses are the values of package exit, for people.
const exitStatuses = `The exit status is
    0    if the command succeeded
    1    if it failed, if a policy or a plan refused it, or if you did not confirm it
    2    if the command line, a project file or a setting is wrong; nothing has changed
    6    if there is no such stack, or none is selected
    7    with --expect-no-changes, if there are changes
    8    if it was cancelled
    9    if somebody else holds the lock of the stack; nothing has changed
    10   if drift has found differences from the recorded state, or if an operation failed only because a provider
         could not wait for the end of what it had begun
    255  after a bug in sluice`

// newTree builds the tree of commands with the given values of the global flags.
func newTree(global *globalFlags) *cobra.Command {
	open := global.open
	fresh := func() *cobra.Command { return newRootCommand(open.Again()) }
	root := &cobra.Command{
		Use:   open.Terminal.Command(), // in usage texts and completions
		Short: "Preview, create and destroy infrastructure that programs declare",
		Long: "sluice previews, creates and destroys infrastructure that programs declare.\n\n" +
			"It works in the directory of a Pulumi project, with its programs, provider plugins, configuration and state.\n" +
			"Every environment variable PULUMI_* can also be written SLUICE_*, which takes precedence. PULUMI_OPTION_<FLAG> sets\n" +
			"the default of a flag.\n\n" + exitStatuses,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return global.apply(cmd)
		},
		Args: exactArgs(0),
	}
	version := root.Flags().Bool("version", false, "print the version of sluice")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionOf(open.Terminal))
			return err
		}
		return cmd.Help()
	}
	root.SetFlagErrorFunc(wrongFlag)
	global.add(root.PersistentFlags())
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	group("deploy", "Deploying:",
		newNewCommand(open), newInstallCommand(open.Terminal), newPreviewCommand(open), newUpCommand(open), newWatchCommand(open), newDestroyCommand(open), newRefreshCommand(open), newDriftCommand(open),
		newImportCommand(open), newDoCommand(open, global.apply), newConvertCommand(open.Terminal), newWhyCommand(open), newReportCommand(open), newGraphCommand(open), newCancelCommand(open), newRecoverCommand(open), newFleetCommand(open.Terminal))
	group("keep", "Stacks, settings and backends:",
		newStackCommand(open), newProjectCommand(open), newConfigCommand(open), newStateCommand(open), newQueryCommand(open), newLoginCommand(open.Terminal), newLogoutCommand(open.Terminal),
		newWhoamiCommand(open.Terminal), newOrgCommand(open.Terminal), newPolicyCommand(open), newSchemaCommand(open.Terminal), newPackageCommand(open.Terminal))
	group("tool", "The tool itself:",
		newAboutCommand(open), newLogsCommand(open.Terminal), newPluginCommand(open), newVersionCommand(open.Terminal), newGenManCommand(open.Terminal, fresh), newGenMarkdownCommand(open.Terminal, fresh))
	group("service", "Commands of Pulumi's hosted service, which say what to use instead:", newServiceCommands()...)
	root.AddCommand(newHiddenServiceCommands()...)
	root.AddCommand(newGenCompletionCommand(open.Terminal))
	root.SetHelpCommandGroupID("tool")
	root.SetCompletionCommandGroupID("tool")
	if global.completes {
		complete(root, global)
	}
	adaptBuiltins(root)
	if open.Terminal.AsPulumi {
		nameCommands(root, open.Terminal)
	}
	return root
}

// nameCommands replaces "sluice" in the examples and quoted commands of help texts by the name by which this command was called.
func nameCommands(cmd *cobra.Command, t *terminal.Terminal) {
	examples := strings.NewReplacer("  sluice ", "  "+t.Command()+" ", "&& sluice ", "&& "+t.Command()+" ")
	cmd.Long, cmd.Example = examples.Replace(t.Named(cmd.Long)), examples.Replace(t.Named(cmd.Example))
	for _, sub := range cmd.Commands() {
		nameCommands(sub, t)
	}
}

// adaptBuiltins makes cobra's own commands refuse unknown arguments like the others, and replaces its bash completion script by
// sluice's.
func adaptBuiltins(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = knownTopic
		case "completion":
			cmd.Args = exactArgs(0)
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			if bash, _, err := cmd.Find([]string{"bash"}); err == nil {
				bash.RunE = func(cmd *cobra.Command, _ []string) error {
					bare, err := cmd.Flags().GetBool("no-descriptions")
					return errors.Join(err, writeBashCompletion(root, root.OutOrStdout(), !bare))
				}
			}
		}
	}
}

// knownTopic accepts the names of a command.
func knownTopic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 && found.HasSubCommands() {
		return unknownCommand(found, rest[0])
	}
	return nil
}
