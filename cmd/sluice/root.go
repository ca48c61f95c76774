package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// cli is one run of the command line: its streams and global flags.
type cli struct {
	streams
	color                    string
	cwd                      string
	nonInteractive           bool
	disableIntegrityChecking bool
	held                     bool                     // a holder ends the process after a signal
	unhide                   atomic.Pointer[func()]   // makes the terminal show again what is typed; nil while it does
	undo                     atomic.Pointer[func()]   // takes back what a command that ends at a question has begun; nil for nothing
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
	f.StringVar(&c.color, "color", "auto", "when to use colours: always, never, raw (as never) or auto (on a terminal)")
	f.StringVarP(&c.cwd, "cwd", "C", "", "run as if sluice had been started in this directory")
	f.BoolVar(&c.nonInteractive, "non-interactive", false, "ask nothing, even on a terminal")
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
	if err := c.defaultsFromEnvironment(cmd.Flags()); err != nil {
		return err
	}
	switch c.color {
	case "always", "never", "raw", "auto":
	default:
		return exit.Usagef("--color %s: write always, never, raw or auto", c.color)
	}
	if c.cwd != "" {
		if err := os.Chdir(c.cwd); err != nil {
			return exit.Usagef("--cwd: %w", err)
		}
	}
	return nil
}

// variableDefaults are flags with a variable of their own, besides PULUMI_OPTION_<FLAG>.
var variableDefaults = map[string]string{
	"parallel":          "PULUMI_PARALLEL",
	"continue-on-error": "PULUMI_CONTINUE_ON_ERROR",
	"yes":               "PULUMI_SKIP_CONFIRMATIONS",
	"run-program":       "PULUMI_RUN_PROGRAM",
}

func (c *cli) defaultsFromEnvironment(flags *pflag.FlagSet) error {
	var fault error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || fault != nil || f.Name == "help" {
			return
		}
		names := []string{"PULUMI_OPTION_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
		if own, ok := variableDefaults[f.Name]; ok {
			names = append(names, own)
		}
		for _, name := range names {
			value, set := c.lookup(name)
			if !set || value == "" {
				continue
			}
			if f.Value.Type() == "bool" && f.Name == "yes" {
				value = strconv.FormatBool(isTruthy(value))
			}
			if err := f.Value.Set(value); err != nil {
				fault = exit.Usagef("the environment variable %s: %w", name, err)
			}
			return
		}
	})
	return fault
}

// env returns a variable, "" when it is not set.
func (c *cli) env(name string) string {
	value, _ := c.lookup(name)
	return value
}

// isTruthy reads a boolean variable (state.md appendix A).
func isTruthy(value string) bool {
	return value == "1" || strings.EqualFold(value, "true")
}

// interactive tells whether somebody is there to answer questions (protocol.md 10.1).
func (c *cli) interactive() bool {
	return c.inTerminal && c.outTerminal && !c.nonInteractive && !c.inCI()
}

func (c *cli) inCI() bool {
	for _, name := range []string{"CI", "BUILD_ID", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION"} {
		if value := c.env(name); value != "" && !strings.EqualFold(value, "false") {
			return true
		}
	}
	return false
}

// colored tells whether to write colours.
func (c *cli) colored() bool {
	switch c.color {
	case "always":
		return true
	case "auto":
		return c.outTerminal && c.env("NO_COLOR") == ""
	}
	return false
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
	c.warn("%v", err)
}

// warn shows a remark that stops nothing.
func (c *cli) warn(format string, args ...any) {
	fmt.Fprintf(c.err, "warning: "+format+"\n", args...)
}
