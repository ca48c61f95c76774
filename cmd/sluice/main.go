package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/gc"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/secrets"
)

func main() { os.Exit(realMain(secrets.PBKDF2{})) }

// realMain runs the command line of the process, and returns its exit status.
func realMain(keys secrets.Derivation) int {
	adoptOwnVariables(os.Environ(), os.Setenv)
	gc.Follow()
	return run(context.Background(), os.Args[1:], terminal.ProcessStreams(), keys)
}

// adoptOwnVariables makes SLUICE_X take precedence over PULUMI_X, in this process and in the programs and plugins that
// it starts.
func adoptOwnVariables(environ []string, set func(name, value string) error) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if rest, own := strings.CutPrefix(name, "SLUICE_"); own && rest != "" {
			_ = set("PULUMI_"+rest, value) // fails only for invalid names
		}
	}
}

// run executes one command line. It reports a panic as an error of sluice, with status 255.
func run(ctx context.Context, args []string, s terminal.Streams, keys secrets.Derivation) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(terminal.New(s).Err, "error: internal fault: %v\n%s", p, debug.Stack())
			status = exit.Internal
		}
	}()
	if service := ciservice.From(s.Lookup, exec.LookPath); service != nil {
		s.Guard = service.Guard
	}
	open := session.NewOpener(terminal.New(s))
	open.Derivation = keys
	global := &globalFlags{open: open, completes: len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)}
	root := newTree(global)
	root.SetArgs(args)
	root.SetIn(strings.NewReader("")) // only the terminal reads the input
	root.SetOut(open.Terminal.Data())
	root.SetErr(open.Terminal.Err)
	err := refuseOneHyphen(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err = errors.Join(err, global.end(err)); err == nil {
		open.Terminal.WarnOfLostOutput()
	}
	return report(open, err)
}
