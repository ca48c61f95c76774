// Command testcost measures the processor time of tests and compares it with a budget. It measures the pace of the machine beside the tests, because
// the same work takes up to twice the processor time on a busy host, and divides by it.
//
//	go test -exec "$testcost run -keep $kept $dir" ./...    # runs each test binary, and writes what it cost to a file in $dir
//	testcost report -budget 10m $dir                        # prints the sum and the cost of each package
//	testcost slow -skipped tests.jsonl $kept $dir           # runs what the first tier has skipped, in the kept test binaries
//
// With -keep, test binaries that have something of the slow tier are kept. tests.jsonl is the output of go test -json for the first tier.
//
// The cost of a test binary includes the processes that it has started and waited for. The status of report is 1 if the sum is above the
// budget by more than a quarter.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-iac/sluice/testing/executable"
	"github.com/sluice-iac/sluice/testing/tier"
)

// cost is the cost of the tests of a package.
type cost struct {
	Package   string        `json:"package"` // the folder; relative to the present one in what read returns
	Processor time.Duration `json:"processor"`
	Elapsed   time.Duration `json:"elapsed"`
	Pace      float64       `json:"pace"` // of the machine meanwhile
}

// onQuietMachine returns the processor time that the tests would have taken on a quiet machine.
func (c cost) onQuietMachine() time.Duration {
	return time.Duration(float64(c.Processor) / max(1, c.Pace))
}

func main() {
	status, err := command(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcost:", err)
	}
	os.Exit(status)
}

func command(args []string, out io.Writer) (status int, err error) {
	const usage = "usage: testcost run [-keep KEPT] DIR BINARY [ARGUMENT...], testcost report [-budget DURATION] DIR, or testcost slow [-without PACKAGE] -skipped FILE KEPT DIR"
	switch {
	case len(args) >= 1 && args[0] == "run":
		flags := flag.NewFlagSet("testcost run", flag.ContinueOnError)
		kept := flags.String("keep", "", "the folder in which binaries with tests of the slow tier are kept")
		if err := flags.Parse(args[1:]); err != nil || flags.NArg() < 2 {
			return 2, errors.Join(err, errors.New(usage))
		}
		return run(*kept, flags.Arg(0), flags.Arg(1), flags.Args()[2:])
	case len(args) >= 1 && args[0] == "report":
		flags := flag.NewFlagSet("testcost report", flag.ContinueOnError)
		budget := flags.Duration("budget", 0, "the processor time that all packages together may take; 0 is no limit")
		if err := flags.Parse(args[1:]); err != nil || flags.NArg() != 1 {
			return 2, errors.Join(err, errors.New(usage))
		}
		costs, err := read(flags.Arg(0))
		if err != nil {
			return 1, err
		}
		return report(out, costs, *budget)
	case len(args) >= 1 && args[0] == "slow":
		flags := flag.NewFlagSet("testcost slow", flag.ContinueOnError)
		events := flags.String("skipped", "", "the output of go test -json for the first tier")
		without := flags.String("without", "", "a package that does not run")
		if err := flags.Parse(args[1:]); err != nil || flags.NArg() != 2 || *events == "" {
			return 2, errors.Join(err, errors.New(usage))
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		return slow(ctx, *events, *without, flags.Arg(0), flags.Arg(1), out)
	}
	return 2, errors.New(usage)
}

// run runs a test binary, writes its cost to a file in dir, and returns its exit status. A signal to this process, which go test sends to stop a
// slow test, makes the binary print its goroutines and end. If kept is not empty, and the binary says that it has something of the slow tier, the
// folder kept has it afterwards.
func run(kept, dir, binary string, args []string) (status int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM)
	defer stop()
	test := exec.CommandContext(ctx, binary, args...)
	test.Cancel = func() error { return test.Process.Signal(syscall.SIGQUIT) }
	test.Stdin, test.Stdout, test.Stderr = os.Stdin, os.Stdout, os.Stderr
	var marks seeker
	if kept != "" {
		test.Stdout = io.MultiWriter(os.Stdout, &marks)
		test.WaitDelay = time.Minute // for processes that keep the output open; go test gives them as long
	}
	here, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	status, err = measure(test, dir, here)
	if marks.found {
		err = errors.Join(err, executable.Link(binary, filepath.Join(kept, fileOf(here))))
	}
	return status, err
}

// measure runs the tests of the package in a folder, writes their cost to a file in dir, and returns the exit status. The tests do not get GOGC, which is
// for the compiler that go test runs: sluice collects its garbage in another way if it is set.
func measure(test *exec.Cmd, dir, folder string) (status int, err error) {
	test.Env = slices.DeleteFunc(test.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOGC=") })
	began, pace := time.Now(), startSampler()
	err = test.Run()
	c := cost{Package: folder, Elapsed: time.Since(began), Pace: pace.end()}
	state := test.ProcessState
	if state == nil {
		return 1, err
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = nil // the status says it
	}
	c.Processor = state.UserTime() + state.SystemTime()
	b, encoding := json.Marshal(c)
	status = max(state.ExitCode(), 0)
	if !state.Success() && status == 0 || err != nil || encoding != nil {
		status = 1 // a signal has ended it
	}
	return status, errors.Join(err, encoding, os.WriteFile(filepath.Join(dir, fileOf(folder)+".json"), b, 0o600))
}

// fileOf returns the name of a file for the package in a folder.
func fileOf(folder string) string {
	return strings.ReplaceAll(strings.Trim(filepath.ToSlash(folder), "/"), "/", "_")
}

// A seeker looks in a text for the mark of the slow tier.
type seeker struct {
	found bool
	rest  []byte // the end of what it has seen, in which a mark may begin
}

func (s *seeker) Write(p []byte) (int, error) {
	if !s.found {
		s.rest = append(s.rest, p...)
		s.found = bytes.Contains(s.rest, []byte(tier.Mark))
		s.rest = append(s.rest[:0], s.rest[max(len(s.rest)-len(tier.Mark), 0):]...)
	}
	return len(p), nil
}

// read returns the costs that the files in dir contain, the highest first.
func read(dir string) ([]cost, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s contains no costs: run the tests with -exec and with -count=1, because go test does not run what it has cached", dir)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var costs []cost
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var c cost
		if err := json.Unmarshal(b, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if name, err := filepath.Rel(here, c.Package); err == nil {
			c.Package = name
		}
		costs = append(costs, c)
	}
	slices.SortFunc(costs, func(a, b cost) int {
		return cmp.Or(cmp.Compare(b.Processor, a.Processor), cmp.Compare(a.Package, b.Package))
	})
	return costs, nil
}

// report prints the costs of packages. The status is 1 if their sum, on a quiet machine, is above the budget by more than a quarter.
func report(out io.Writer, costs []cost, budget time.Duration) (status int, err error) {
	var sum, quiet time.Duration
	fmt.Fprintf(out, "%10s %10s %5s  package\n", "processor", "elapsed", "pace")
	for _, c := range costs {
		sum, quiet = sum+c.Processor, quiet+c.onQuietMachine()
		if c.Processor >= 100*time.Millisecond {
			fmt.Fprintf(out, "%9.1fs %9.1fs %5.2f  %s\n", c.Processor.Seconds(), c.Elapsed.Seconds(), c.Pace, c.Package)
		}
	}
	fmt.Fprintf(out, "The tests of %d packages took %s of processor time, which is %s on a quiet machine.", len(costs), sum.Round(time.Second), quiet.Round(time.Second))
	if budget > 0 {
		fmt.Fprintf(out, " The budget is %s.", budget)
	}
	fmt.Fprintln(out)
	if budget > 0 && quiet > budget+budget/4 {
		return 1, fmt.Errorf("the tests take %s of processor time on a quiet machine, which is above the budget of %s by more than a quarter: make the tests at the top of the list cheaper, or move them to the slow tier",
			quiet.Round(time.Second), budget)
	}
	return 0, nil
}
