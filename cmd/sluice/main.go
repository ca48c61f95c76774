package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/ballast"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/ciservice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/secrets"
)

func main() { os.Exit(realMain(secrets.PBKDF2{})) }

// realMain runs the command line of the process, and returns its exit status.
func realMain(keys secrets.Derivation) int {
	adoptOwnVariables(os.Environ(), os.Setenv)
	limitMemory()
	defer ballast.Keep()
	return run(context.Background(), os.Args[1:], terminal.ProcessStreams(), keys)
}

// memoryShare is the part of the machine's memory, or of the control group's, that sluice uses. Programs and plugins need the rest.
const memoryShare = 0.8

// limitMemory makes the garbage collector run more often when memory gets scarce, instead of letting the heap double, and sets the
// limit at which the engine refuses more resources. GOMEMLIMIT takes precedence. If the size of the memory is unknown, there is no
// limit.
func limitMemory() {
	_, _ = memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
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
	global := &globalFlags{open: open}
	root := newTree(global)
	root.SetArgs(args)
	root.SetIn(strings.NewReader("")) // only the terminal reads the input
	root.SetOut(open.Terminal.Data())
	root.SetErr(open.Terminal.Err)
	err := refuseOneHyphen(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	return report(open, errors.Join(err, global.end(err)))
}
