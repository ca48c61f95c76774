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
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/sluice-iac/sluice/bench/internal/formats"
	"github.com/sluice-iac/sluice/bench/internal/inprocess"
	"github.com/sluice-iac/sluice/bench/internal/plots"
	"github.com/sluice-iac/sluice/bench/internal/processes"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	format, out, in, compare, plots, resume string
	profiles, trace                         string
	list                                    bool
	layout                                  formats.Layout

	arguments []string        // as they were given, or as those of the resumed report with them
	resumed   *results.Report // nil for a new one
}

// command runs one command line.
func command(ctx context.Context, args []string, out, log io.Writer) error {
	f, err := parse(args, log)
	if err != nil {
		return err
	}
	f.layout.Width = width(out)
	if f.list {
		return f.listCases(ctx, out)
	}
	report, err := f.report(ctx, log)
	if err != nil && (report == nil || len(report.Results) == 0) {
		return err
	}
	unfinished := err
	if f.compare == "" || f.format != "table" || unfinished != nil {
		if err := formats.Write(out, f.format, report, f.layout); err != nil {
			return err
		}
	}
	if unfinished != nil {
		return unfinished
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
	if f.format != "table" { // which another program reads
		out = log
	}
	return f.comparison(out, report)
}

// comparison compares a report with an older one.
func (f *flags) comparison(out io.Writer, report *results.Report) error {
	older, err := results.Read(f.compare)
	if err != nil {
		return err
	}
	losses, err := formats.Compare(out, older, report, f.layout)
	if err == nil && losses > 0 {
		err = fmt.Errorf("%d figures are worse than in %s by more than chance explains", losses, f.compare)
	}
	return err
}

// widthOfOthers is the width of lines that are not written to a terminal.
const widthOfOthers = 80

// width returns how many cells the lines of an output may have: those of a terminal, or what COLUMNS says.
func width(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return widthOfOthers
}

// history is the folder of the reports.
func history() string { return filepath.Join("bench", "results") }

// report measures, or reads an earlier report. If the measurement ends early, it returns what was measured with the error.
func (f *flags) report(ctx context.Context, log io.Writer) (*results.Report, error) {
	if f.in != "" {
		return results.Read(f.in)
	}
	stop, err := startTrace(f.trace)
	if err != nil {
		return nil, err
	}
	report, err := f.measure(ctx, log)
	return report, errors.Join(err, stop())
}

// runner returns a runner for the cases that are selected, and what visits these.
func (f *flags) runner(ctx context.Context) (r *runner.Runner, cases func() error, end func()) {
	r = runner.New(ctx, f.Settings, f.resumed)
	r.History = results.ReadHistory(history())
	if f.resumed != nil {
		r.History = append(r.History, f.resumed)
	}
	r.Profiles = f.profiles
	p := processes.New(r)
	return r, func() error {
		for _, of := range []func(context.Context, *runner.Runner) error{p.Measure, inprocess.Matrix, inprocess.Extras} {
			if err := of(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}, p.Close
}

// listCases prints the cases that would be measured, and how long each would take, as far as it is known.
func (f *flags) listCases(ctx context.Context, out io.Writer) error {
	r, cases, end := f.runner(ctx)
	defer end()
	planned, err := r.Plan(cases)
	if err == nil && len(planned) == 0 {
		err = f.nothing()
	}
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range planned {
		estimate := ""
		if took, known := r.History.Estimate(k, r.Runs); known {
			estimate = runner.Estimate(took, 0)
		}
		size := ""
		if k.Size > 0 {
			size = strconv.Itoa(k.Size)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", k.Name(), size, estimate)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	total := runner.Estimate(r.Left())
	if total == "" {
		total = "an unknown time: none was measured before"
	}
	_, err = fmt.Fprintf(out, "%d cases, %s\n", len(planned), total)
	return err
}

// nothing is the error for a selection without cases.
func (f *flags) nothing() error {
	if f.resumed != nil {
		return fmt.Errorf("nothing is left to measure: %s has all selected cases", f.resume)
	}
	return fmt.Errorf("no case matches -only %q with these shapes and operations: -list prints their names", f.Only)
}

// measure measures the cases that are selected. Each is in the file of the report as soon as it ends.
func (f *flags) measure(ctx context.Context, log io.Writer) (report *results.Report, err error) {
	began := time.Now()
	r, cases, end := f.runner(ctx)
	defer end()
	planned, err := r.Plan(cases)
	switch {
	case err != nil:
		return nil, err
	case len(planned) == 0 && f.resumed != nil:
		return f.resumed, nil
	case len(planned) == 0:
		return nil, f.nothing()
	}
	r.File = f.out
	if r.File == "" {
		r.File = filepath.Join(history(), r.Report.Time.Format("20060102-150405")+".json")
	}
	r.Report.Arguments, r.Report.Planned = f.arguments, r.Report.Cases()+len(planned)
	before, _ := time.ParseDuration(r.Report.Duration) // "" is none
	err = cases()
	r.Report.Duration = (before + time.Since(began)).Round(time.Second).String()
	if len(r.Report.Results) == 0 {
		if ctx.Err() != nil {
			err = errors.New("interrupted before a case had ended: there are no results")
		}
		return r.Report, err
	}
	if writeErr := r.Report.Write(r.File); writeErr != nil {
		return r.Report, errors.Join(err, writeErr)
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		return r.Report, fmt.Errorf("%w\n%d of %d cases are in %s; -resume %s measures the others", err, r.Report.Cases(), r.Report.Planned, r.File, r.File)
	}
	fmt.Fprintf(log, "%s has all figures\n", r.File)
	if r.Profiled > 0 {
		fmt.Fprintf(log, "%d profiles are in %s: go tool pprof shows them\n", r.Profiled, f.profiles)
	}
	return r.Report, nil
}

// parse parses a command line. With -resume, it has the flags of the resumed report, which those of the command line override.
func parse(args []string, log io.Writer) (*flags, error) {
	f, err := parseFlags(args, log)
	if err != nil || f.resume == "" {
		return f, err
	}
	file := f.resume
	report, err := results.Read(file)
	if err != nil {
		return nil, err
	}
	if now := results.ThisMachine(); now.Processor != report.Machine.Processor || now.Processors != report.Machine.Processors {
		return nil, fmt.Errorf("-resume: %s was measured on another machine: %s × %d", file, report.Machine.Processor, report.Machine.Processors)
	}
	if now := results.Commit(context.Background()); now != report.Commit {
		return nil, fmt.Errorf("-resume: %s was measured at commit %s, and this is %s", file, report.Commit, now)
	}
	if f, err = parseFlags(append(slices.Clone(report.Arguments), args...), log); err != nil {
		return nil, err
	}
	f.out, f.resumed = file, report
	f.arguments = slices.Clone(report.Arguments)
	return f, nil
}

func parseFlags(args []string, log io.Writer) (*flags, error) {
	f := &flags{Settings: runner.Settings{Log: log}, arguments: args}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(log)
	list := func(name, value, usage string) *string { return set.String(name, value, usage+", separated by commas") }
	sizes := list("sizes", "3000", "numbers of resources, to 1,000,000")
	shapes := list("shapes", strings.Join(shape.Simple(), ","), "shapes of stacks: "+strings.Join(shape.All(), ", ")+", or all")
	operations := list("operations", "all", "operations of the engine: "+strings.Join(inprocess.Operations(), ", ")+", or all")
	latencies := list("latencies", "0", "how long provider calls take in process: times such as 2ms, "+inprocess.Lognormal+" and "+inprocess.Throttled)
	only := set.String("only", "", "measure the cases whose names match this regular expression")
	set.IntVar(&f.Runs, "runs", 5, "how often each figure is measured, after a warm-up")
	set.BoolVar(&f.Trial, "trial", false, "run each case once, without a warm-up, to see that it works")
	set.IntVar(&f.Callers, "callers", 0, "how many registrations a program in process makes at once; 0: all")
	set.IntVar(&f.Dependents, "dependents", 500, "dependents of the hub that is replaced")
	set.IntVar(&f.Checkpoint, "checkpoint", 100, "megabytes of the checkpoint that is read; 0: none")
	set.StringVar(&f.format, "format", "table", "what is printed: "+strings.Join(formats.Names(), ", "))
	set.StringVar(&f.out, "out", "", "JSON file to write; default bench/results/TIME.json")
	set.StringVar(&f.in, "in", "", "measure nothing, and use this JSON file")
	set.StringVar(&f.resume, "resume", "", "go on with this JSON file: measure the cases that it lacks, with the flags that it was begun with")
	set.BoolVar(&f.list, "list", false, "print the cases that would be measured, and how long they take, as far as it is known")
	set.StringVar(&f.compare, "compare", "", "compare with this JSON file; the exit status is 1 if a figure is worse by more than chance explains")
	set.StringVar(&f.plots, "plots", "", "draw pictures into this folder")
	set.StringVar(&f.profiles, "profiles", "", "profile further runs of each case and contender into this folder")
	set.DurationVar(&f.ProfileFor, "profile-for", 2*time.Second, "how long the profiled runs of each contender take together")
	set.StringVar(&f.trace, "trace", "", "write a trace of Go's runtime while cases run in process")
	columns := set.String("columns", "main", "columns of tables: main or all")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if f.in != "" && (f.resume != "" || f.list) {
		return nil, errors.New("-in measures nothing: -resume and -list cannot be used with it")
	}
	var errs [7]error
	if f.layout.All = *columns == "all"; !f.layout.All && *columns != "main" {
		errs[6] = fmt.Errorf("-columns is main or all, not %q", *columns)
	}
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

// startTrace begins to write a trace of Go's runtime; "" writes none. stop ends it.
func startTrace(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := trace.Start(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		trace.Stop()
		return f.Close()
	}, nil
}
