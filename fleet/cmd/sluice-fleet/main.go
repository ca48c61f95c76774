// Command sluice-fleet works on many stacks that depend on each other. `sluice fleet` runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/fleet/spec"
)

// The exit statuses, which are those of sluice.
const (
	statusFailure    = 1
	statusUsage      = 2
	statusHasChanges = 7
	statusCancelled  = 8
	statusDrifted    = 10
)

// statusError is an error with an exit status of its own. If it is quiet, it has already been shown.
type statusError struct {
	status int
	err    error
	quiet  bool
}

func (e *statusError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error {
	return &statusError{status: statusUsage, err: fmt.Errorf(format, args...)}
}

func main() { os.Exit(realMain(context.Background(), os.Args[0], os.Args[1:])) }

func realMain(ctx context.Context, called string, args []string) int {
	adoptOwnVariables()
	root := newRootAs(called)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var own *statusError
	var mistakes *spec.MistakesError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		if !own.quiet {
			fmt.Fprintf(os.Stderr, "error: %v\n", own.err)
		}
		return own.status
	case errors.As(err, &mistakes):
		fmt.Fprintf(os.Stderr, "%s\nerror: the fleet has %d mistakes\n", mistakes.Text, mistakes.Count)
		return statusUsage
	}
	fmt.Fprintf(os.Stderr, "error: %v\n", err)
	if errors.Is(err, context.Canceled) {
		return statusCancelled
	}
	return statusFailure
}

// adoptOwnVariables makes SLUICE_X take precedence over PULUMI_X in this process and in the programs that it starts, as in sluice.
func adoptOwnVariables() {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if rest, own := strings.CutPrefix(name, "SLUICE_"); own && rest != "" && !strings.HasPrefix(rest, "FLEET_") {
			_ = os.Setenv("PULUMI_"+rest, value) // fails only for invalid names
		}
	}
}

// newRootAs returns the commands, which name themselves as somebody has called them: "sluice fleet", or the path of the program.
func newRootAs(called string) *cobra.Command {
	root := newRoot()
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: strings.TrimSuffix(filepath.Base(called), ".exe")}
	return root
}

func newRoot() *cobra.Command {
	g := &global{}
	root := &cobra.Command{
		Use:   "sluice-fleet",
		Short: "Work on many stacks that depend on each other",
		Long: "Preview, update, refresh and destroy many stacks in the order of their dependencies, on one machine or many.\n\n" +
			"A file fleet.yaml names the stacks. Which of them read the outputs of others is found in what is recorded of them.\n" +
			"Runs are durable: the command, a worker or the server may die, and the same command goes on with the run.\n\n" +
			"The exit status is\n" +
			"    0    if all stacks have succeeded or were left as they are\n" +
			"    1    if any has failed, was skipped, or was not approved\n" +
			"    2    if the command line or fleet.yaml is wrong; nothing has changed\n" +
			"    7    with --expect-no-changes, if there are changes\n" +
			"    8    if it was cancelled\n" +
			"    10   if drift has found something that is not as it is recorded",
		SilenceErrors: true, SilenceUsage: true,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(wrongFlag)
	g.add(root.PersistentFlags())
	root.AddCommand(newGraph(g))
	for _, o := range operations {
		root.AddCommand(newOperation(g, o))
	}
	root.AddCommand(newStatus(g), newLogs(g), newApprove(g), newCancel(g), newHistory(g), newSchedule(g), newWorker(g), newKey(g), newSeal(g), newSchema(), newServer(), newGenMan())
	return root
}

// arguments accepts so many arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			return wrongUse(cmd, "missing argument")
		case n > most && cmd.HasSubCommands():
			return wrongUse(cmd, fmt.Sprintf("unknown command %q for %q", args[most], cmd.CommandPath()))
		case n > most:
			return wrongUse(cmd, fmt.Sprintf("unexpected argument %q", args[most]))
		}
		return nil
	}
}

// wrongFlag returns the error for a flag that cannot be parsed.
func wrongFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return wrongUse(cmd, fmt.Sprintf("--%s cannot be %q: it takes %s", f.Name, invalid.GetValue(), f.Value.Type()))
	}
	return wrongUse(cmd, err.Error())
}

func wrongUse(cmd *cobra.Command, problem string) error {
	return usagef("%s\nusage: %s\n`%s --help` describes the command", problem, cmd.UseLine(), cmd.CommandPath())
}
