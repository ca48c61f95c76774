package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
	"github.com/sluice-iac/sluice/testing/executable"
)

// TestMain makes sluice available as a command of the scripts. Scripts start thousands of processes, and most of the
// cost of each would be the derivation of a key, so new stacks have cheap ones. Stacks of the programs that tests build have real ones.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"sluice":     func() { os.Exit(realMain(secretstest.CheapKeys{})) },
		"pulumi":     func() { os.Exit(realMain(secretstest.CheapKeys{})) },
		"holdlock":   holdLock,
		"callengine": callEngine,
	})
}

// tests are the tests of this package.
type tests struct{ m *testing.M }

// Run runs the tests. It makes sure that their child processes end at SIGHUP as at a terminal, even below nohup, which makes processes ignore it:
// a signal that this process catches is not ignored in its children.
func (all tests) Run() int {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	defer signal.Stop(hangUps)
	letTestsOverlap()
	if err := linkPlugins(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return all.m.Run()
}

// linkPlugins makes the fake plugins available beside the commands of the scripts. They are a program of their own, because this one takes ten times
// as long to start.
func linkPlugins() error {
	shared, err := executable.Shared(context.Background(), "../../testing/fakeplugins")
	if err != nil {
		return err
	}
	commands := filepath.SplitList(os.Getenv("PATH"))[0]
	for _, kind := range []string{"language", "resource", "converter", "analyzer-policy"} {
		if err := executable.Link(shared, filepath.Join(commands, "pulumi-"+kind+"-fake")); err != nil {
			return err
		}
	}
	return nil
}

// letTestsOverlap runs four tests at once for each processor, unless -parallel is set, because they mostly wait for timers and processes.
func letTestsOverlap() {
	const name = "test.parallel"
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, strconv.Itoa(4*runtime.GOMAXPROCS(0))) // a number is always valid
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/script"))
}

// holdLock is a command that locks the selected stack and waits at a question forever.
func holdLock() {
	open := session.NewOpener(terminal.New(terminal.ProcessStreams()))
	s, err := open.State(context.Background(), "")
	if err == nil {
		err = interrupts.Hold(context.Background(), open.Terminal, []backend.Lockable{s.State}, func(*interrupts.Holder) error { select {} })
	}
	os.Exit(report(open, err))
}
