// Command testcost measures the processor time of tests and compares it with a budget. Processor time hardly depends on the load of the machine.
//
//	go test -exec "$testcost run $dir" ./...    # runs each test binary, and writes what it cost to a file in $dir
//	testcost report -budget 10m $dir            # prints the sum and the cost of each package
//	testcost skipped tests.jsonl                # prints the arguments of go test that run what the first tier has skipped
//
// The cost of a test binary includes the processes that it has started and waited for. The status of report is 1 if the sum is above the
// budget by more than a quarter.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-iac/sluice/testing/tier"
)

// cost is the cost of the tests of a package.
type cost struct {
	Package   string        `json:"package"` // the folder, relative to the one in which DIR was created
	Processor time.Duration `json:"processor"`
	Elapsed   time.Duration `json:"elapsed"`
}

func main() {
	status, err := command(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcost:", err)
	}
	os.Exit(status)
}

func command(args []string, out io.Writer) (status int, err error) {
	const usage = "usage: testcost run DIR BINARY [ARGUMENT...], testcost report [-budget DURATION] DIR, or testcost skipped FILE"
	switch {
	case len(args) >= 3 && args[0] == "run":
		return run(args[1], args[2], args[3:])
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
	case len(args) == 2 && args[0] == "skipped":
		file, err := os.Open(args[1])
		if err != nil {
			return 1, err
		}
		defer file.Close()
		arguments, err := skipped(file)
		if err != nil {
			return 1, fmt.Errorf("%s: %w", args[1], err)
		}
		_, err = fmt.Fprintln(out, arguments)
		return 0, err
	}
	return 2, errors.New(usage)
}

// run runs a test binary, writes its cost to a file in dir, and returns its exit status. A signal to this process, which go test sends to stop a
// slow test, makes the binary print its goroutines and end.
func run(dir, binary string, args []string) (status int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGQUIT, syscall.SIGTERM)
	defer stop()
	test := exec.CommandContext(ctx, binary, args...)
	test.Cancel = func() error { return test.Process.Signal(syscall.SIGQUIT) }
	test.Stdin, test.Stdout, test.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	err = test.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) && ctx.Err() == nil {
		return 1, err
	}
	here, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	state := test.ProcessState
	b, err := json.Marshal(cost{Package: here, Processor: state.UserTime() + state.SystemTime(), Elapsed: time.Since(began)})
	if err != nil {
		return 1, err
	}
	file, err := os.CreateTemp(dir, "*.json")
	if err != nil {
		return 1, err
	}
	_, err = file.Write(b)
	if err = errors.Join(err, file.Close()); err != nil {
		return 1, err
	}
	if code := state.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, nil // a signal has ended it
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

// report prints the costs of packages. The status is 1 if their sum is above the budget by more than a quarter.
func report(out io.Writer, costs []cost, budget time.Duration) (status int, err error) {
	var sum time.Duration
	fmt.Fprintf(out, "%10s %10s  package\n", "processor", "elapsed")
	for _, c := range costs {
		sum += c.Processor
		if c.Processor >= 100*time.Millisecond {
			fmt.Fprintf(out, "%9.1fs %9.1fs  %s\n", c.Processor.Seconds(), c.Elapsed.Seconds(), c.Package)
		}
	}
	fmt.Fprintf(out, "The tests of %d packages took %s of processor time.", len(costs), sum.Round(time.Second))
	if budget > 0 {
		fmt.Fprintf(out, " The budget is %s.", budget)
	}
	fmt.Fprintln(out)
	if budget > 0 && sum > budget+budget/4 {
		return 1, fmt.Errorf("the tests take %s of processor time, which is above the budget of %s by more than a quarter: make the tests at the top of the list cheaper, or move them to the slow tier",
			sum.Round(time.Second), budget)
	}
	return 0, nil
}

// skipped parses the output of go test -json, and returns the arguments of go test that run those tests, with all their subtests, that belong at
// least in part to the slow tier. A test belongs to that tier if package tier has skipped it.
func skipped(events io.Reader) (arguments string, err error) {
	packages, tests := map[string]bool{}, map[string]bool{}
	for d := json.NewDecoder(events); ; {
		var e struct{ Action, Package, Test, Output string }
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return "", err
		}
		if e.Action == "output" && strings.Contains(e.Output, tier.Mark) {
			test, _, _ := strings.Cut(e.Test, "/")
			packages[e.Package], tests[test] = true, true
		}
	}
	if len(tests) == 0 {
		return "", errors.New("no test of the slow tier was skipped: the file must be the -json output of the first tier")
	}
	return "-run ^(" + strings.Join(slices.Sorted(maps.Keys(tests)), "|") + ")$ " + strings.Join(slices.Sorted(maps.Keys(packages)), " "), nil
}
