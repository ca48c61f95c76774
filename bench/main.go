package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/formats"
	"github.com/sluice-iac/sluice/bench/internal/inprocess"
	"github.com/sluice-iac/sluice/bench/internal/plots"
	"github.com/sluice-iac/sluice/bench/internal/processes"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// flags are the command line.
type flags struct {
	runner.Settings
	format, out, in, compare, plots string
	profiles                        profiles
}

// command runs one command line.
func command(ctx context.Context, args []string, out, log io.Writer) error {
	f, err := parse(args, log)
	if err != nil {
		return err
	}
	report, err := f.report(ctx)
	if err != nil {
		return err
	}
	if err := formats.Write(out, f.format, report); err != nil {
		return err
	}
	if f.plots != "" {
		n, err := plots.Write(f.plots, report)
		if err != nil {
			return err
		}
		fmt.Fprintf(log, "%d pictures are in %s\n", n, f.plots)
	}
	if f.compare == "" {
		return nil
	}
	older, err := results.Read(f.compare)
	if err != nil {
		return err
	}
	fmt.Fprintln(log)
	losses, err := formats.Compare(log, older, report)
	if err == nil && losses > 0 {
		err = fmt.Errorf("%d figures are worse than in %s by more than chance explains", losses, f.compare)
	}
	return err
}

// report measures, or reads an earlier report.
func (f *flags) report(ctx context.Context) (*results.Report, error) {
	if f.in != "" {
		return results.Read(f.in)
	}
	stop, err := f.profiles.start()
	if err != nil {
		return nil, err
	}
	report, err := measure(ctx, f.Settings)
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	file := f.out
	if file == "" {
		file = filepath.Join("bench", "results", report.Time.Format("20060102-150405")+".json")
	}
	return report, report.Write(file)
}

// measure measures the cases that are selected.
func measure(ctx context.Context, s runner.Settings) (*results.Report, error) {
	began := time.Now()
	r := runner.New(ctx, s)
	p := processes.New(ctx, r)
	defer p.Close()
	for _, cases := range []func(context.Context, *runner.Runner) error{p.Measure, inprocess.Matrix, inprocess.Extras} {
		if err := cases(ctx, r); err != nil {
			return nil, err
		}
	}
	if len(r.Report.Results) == 0 {
		return nil, fmt.Errorf("no case matches -only %q with these shapes and operations: without -only, their names are printed as they run", s.Only)
	}
	r.Report.Duration = time.Since(began).Round(time.Second).String()
	return r.Report, nil
}

func parse(args []string, log io.Writer) (*flags, error) {
	f := &flags{Settings: runner.Settings{Log: log}}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(log)
	list := func(name, value, usage string) *string { return set.String(name, value, usage+", separated by commas") }
	sizes := list("sizes", "3000", "numbers of resources, to 1,000,000")
	shapes := list("shapes", strings.Join(shape.Simple(), ","), "shapes of stacks: "+strings.Join(shape.All(), ", ")+", or all")
	operations := list("operations", "all", "operations of the engine: "+strings.Join(inprocess.Operations(), ", ")+", or all")
	latencies := list("latencies", "0", "how long provider calls take in process: times such as 2ms, "+inprocess.Lognormal+" and "+inprocess.Throttled)
	only := set.String("only", "", "measure the cases whose names match this regular expression")
	set.IntVar(&f.Runs, "runs", 5, "how often each figure is measured, after a warm-up")
	set.IntVar(&f.Callers, "callers", 0, "how many registrations a program in process makes at once; 0: all")
	set.IntVar(&f.Dependents, "dependents", 500, "dependents of the hub that is replaced")
	set.IntVar(&f.Checkpoint, "checkpoint", 100, "megabytes of the checkpoint that is read; 0: none")
	set.StringVar(&f.format, "format", "table", "what is printed: "+strings.Join(formats.Names(), ", "))
	set.StringVar(&f.out, "out", "", "JSON file to write; default bench/results/TIME.json")
	set.StringVar(&f.in, "in", "", "measure nothing, and use this JSON file")
	set.StringVar(&f.compare, "compare", "", "compare with this JSON file; the exit status is 1 if a figure is worse by more than chance explains")
	set.StringVar(&f.plots, "plots", "", "draw pictures into this folder")
	set.StringVar(&f.profiles.cpu, "cpuprofile", "", "write a CPU profile of what runs in process")
	set.StringVar(&f.profiles.memory, "memprofile", "", "write a profile of what was allocated in process")
	set.StringVar(&f.profiles.trace, "trace", "", "write a trace of Go's runtime")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	var errs [6]error
	f.Sizes, errs[0] = numbers(*sizes)
	f.Shapes, errs[1] = some("-shapes", *shapes, shape.All())
	f.Operations, errs[2] = some("-operations", *operations, inprocess.Operations())
	f.Latencies = strings.Split(*latencies, ",")
	for _, l := range f.Latencies {
		errs[3] = errors.Join(errs[3], inprocess.CheckLatency(l))
	}
	if f.Only, errs[4] = regexp.Compile(*only); errs[4] != nil {
		errs[4] = fmt.Errorf("-only: %w", errs[4])
	}
	if f.Runs < 1 || f.Dependents < 1 || f.Checkpoint < 0 || f.Callers < 0 {
		errs[5] = errors.New("-runs and -dependents must be positive, -callers and -checkpoint not negative")
	}
	if !slices.Contains(formats.Names(), f.format) {
		errs[5] = errors.Join(errs[5], fmt.Errorf("-format is one of %s", strings.Join(formats.Names(), ", ")))
	}
	return f, errors.Join(errs[:]...)
}

// some returns the items of a list, all of which must be known.
func some(name, text string, known []string) ([]string, error) {
	if text == "all" {
		return known, nil
	}
	list := strings.Split(text, ",")
	for _, s := range list {
		if !slices.Contains(known, s) {
			return nil, fmt.Errorf("%s: %q is not one of %s", name, s, strings.Join(known, ", "))
		}
	}
	return list, nil
}

// largest is the maximal number of resources of a stack.
const largest = 1_000_000

func numbers(text string) ([]int, error) {
	var out []int
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > largest {
			return nil, fmt.Errorf("-sizes must be numbers from 1 to %d, not %q", largest, field)
		}
		out = append(out, n)
	}
	return out, nil
}
