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
	"go.temporal.io/sdk/worker"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/platform/build"
)

func main() { os.Exit(realMain(context.Background(), os.Args[0], os.Args[1:])) }

func realMain(ctx context.Context, called string, args []string) int {
	adoptOwnVariables()
	worker.SetBinaryChecksum(identity())
	root := newRootAs(called)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var own *statusError
	var mistakes *spec.MistakesError
	var cycle *order.CycleError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		if !own.quiet {
			fmt.Fprintf(errs(), "error: %v\n", own.err)
		}
		return own.status
	case errors.As(err, &cycle):
		fmt.Fprintf(errs(), "error: %v\n", cycle)
		return statusUsage
	case errors.As(err, &mistakes):
		fmt.Fprintf(errs(), "%s\nerror: the fleet has %s\n", mistakes.Text, numbered(mistakes.Count, "mistake"))
		return statusUsage
	}
	fmt.Fprintf(errs(), "error: %v\n", err)
	if errors.Is(err, context.Canceled) {
		return statusCancelled
	}
	return statusFailure
}

// identity identifies this build of the program for Temporal, which records it with the tasks of workflows. Without it, the SDK reads the whole program
// at each start for a checksum, which takes a third of a second of processor time.
func identity() string { return strings.TrimSpace("sluice-fleet " + build.Identity()) }

// adoptOwnVariables makes SLUICE_X take precedence over PULUMI_X in this process and in the programs that it starts, as in sluice.
func adoptOwnVariables() {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if rest, own := strings.CutPrefix(name, "SLUICE_"); own && rest != "" && !strings.HasPrefix(rest, "FLEET_") {
			_ = os.Setenv("PULUMI_"+rest, value) // fails only for invalid names
		}
	}
}

// newRootAs returns the commands. In their texts they have the name by which they were called: "sluice fleet", or the path of the
// program.
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
			"A file fleet.yaml names the stacks. The recorded states show which stacks read the outputs of others.\n" +
			"Runs are durable: if the command, a worker or the server is killed, the same command continues the run.\n\n" +
			"The exit status is\n" +
			"    0    if all stacks have succeeded or are unchanged\n" +
			"    1    if a stack has failed, was skipped, or was not approved\n" +
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
