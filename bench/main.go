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
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/bench/shape"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, out, log io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	sizes := flags.String("sizes", "3000", "numbers of resources, separated by commas")
	shapes := flags.String("shapes", strings.Join(shape.All[:], ","), "shapes of stacks, separated by commas")
	runs := flags.Int("runs", 5, "how often each figure is measured")
	existing := flags.Int("existing", 1000, "resources of the latency case")
	dependents := flags.Int("dependents", 500, "dependents of the delete-before-replace")
	checkpoint := flags.Int("checkpoint", 100, "megabytes of the checkpoint that is read; 0 for none")
	only := flags.String("only", "", "measure the cases whose name matches this regular expression")
	target := flags.String("out", "", "JSON file to write; default bench/results/<time>.json")
	profile := flags.String("cpuprofile", "", "write a CPU profile of the cases that run in process")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := settings{runs: *runs, existing: *existing, dependents: *dependents, checkpoint: *checkpoint, log: log}
	if s.sizes, err = numbers(*sizes); err != nil {
		return err
	}
	if s.shapes = strings.Split(*shapes, ","); !known(s.shapes) {
		return fmt.Errorf("-shapes must be some of %s", strings.Join(shape.All[:], ","))
	}
	if s.runs < 1 || s.existing < 1 || s.dependents < 1 || s.checkpoint < 0 {
		return errors.New("-runs, -existing and -dependents must be positive, and -checkpoint not negative")
	}
	if s.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if *profile != "" {
		stop, err := startProfile(*profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	r, err := measure(ctx, s)
	if err != nil {
		return err
	}
	if err := r.print(out); err != nil {
		return err
	}
	file := *target
	if file == "" {
		file = filepath.Join("bench", "results", time.Now().UTC().Format("20060102-150405")+".json")
	}
	return r.write(file)
}

func known(shapes []string) bool {
	for _, s := range shapes {
		if !slices.Contains(shape.All[:], s) {
			return false
		}
	}
	return true
}

func numbers(text string) ([]int, error) {
	var out []int
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-sizes must be positive numbers, not %q", field)
		}
		out = append(out, n)
	}
	return out, nil
}

func startProfile(path string) (stop func() error, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
