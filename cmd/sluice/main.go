package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func main() { os.Exit(realMain()) }

// realMain runs the command line of the process and returns its exit status.
func realMain() int {
	adoptOwnVariables(os.Environ(), os.Setenv)
	defer runtime.KeepAlive(ballast())
	return run(context.Background(), os.Args[1:], terminal.ProcessStreams())
}

// ballastSize is by how much the heap seems larger than it is.
const ballastSize = 64 << 20

// ballast keeps the garbage collector from running again and again while the heap is small, which is most of the time of
// a command and cost a quarter of it. The collector waits until the heap has doubled, and counts these bytes; as nobody
// ever touches them they take no memory. So a command uses at most about this much more than it would without, which a
// larger GOGC would not promise for large stacks. Whoever sets GOGC or GOMEMLIMIT gets no ballast.
func ballast() []byte {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if os.Getenv(name) != "" {
			return nil
		}
	}
	return make([]byte, ballastSize)
}

// adoptOwnVariables makes SLUICE_X win over PULUMI_X, for this process and for the programs and plugins it starts.
func adoptOwnVariables(environ []string, set func(name, value string) error) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if rest, own := strings.CutPrefix(name, "SLUICE_"); own && rest != "" {
			_ = set("PULUMI_"+rest, value) // fails only for impossible names
		}
	}
}

// run executes one command line. A panic is reported as a fault of sluice, with status 255.
func run(ctx context.Context, args []string, s terminal.Streams) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Err, "error: internal fault: %v\n%s", p, debug.Stack())
			status = exit.Internal
		}
	}()
	open := session.NewOpener(terminal.New(s))
	root := newRootCommand(open)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	return report(open, root.ExecuteContext(ctx))
}
