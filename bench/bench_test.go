package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/inprocess"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/testing/tier"
)

// documented returns the commands in the documents about the benchmarks.
func documented(t *testing.T) [][]string {
	var all [][]string
	for _, file := range []string{"README.md", filepath.Join("..", "docs", "performance.md")} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := false
		for line := range strings.Lines(string(text)) {
			arguments, is := strings.CutPrefix(line, "    go run ./bench")
			if !is {
				continue
			}
			found = true
			var args []string
			arguments, _, _ = strings.Cut(arguments, "#")
			for i, part := range strings.Split(arguments, "'") {
				if i%2 == 0 {
					args = append(args, strings.Fields(part)...)
				} else {
					args = append(args, part)
				}
			}
			all = append(all, args)
		}
		require.True(t, found, file)
	}
	return all
}

// everyCase are the arguments with which the smallest sizes of all cases are tried.
var everyCase = []string{"-sizes", "3", "-trial", "-dependents", "2", "-checkpoint", "1"}

// measured measures what the arguments select of every case.
func measured(t *testing.T, args ...string) *results.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "results", "bench.json")
	var table bytes.Buffer
	require.NoError(t, command(t.Context(), append(append(slices.Clone(everyCase), "-out", file), args...), &table, io.Discard))
	r, err := results.Read(file)
	require.NoError(t, err)
	require.NotEmpty(t, r.Commit)
	for i := range r.Results {
		of := &r.Results[i]
		require.Contains(t, table.String(), of.Name())
		for m, s := range of.Runs {
			require.Len(t, s, 1, "%s %s", of.Name(), m)
		}
		if of.Case != "memory at the end of an update" { // which has no times
			require.NotEmpty(t, r.Baseline(of.Key), "%s: each case has a baseline on every machine", of.Name())
		}
		if strings.HasPrefix(of.Case, "engine ") {
			require.NotEmpty(t, of.Timeline, of.Name())
		}
	}
	return r
}

// The cases in processes are measured with one shape: each takes a dozen processes, whose programs get the others from the same package as the cases in
// this process, which are measured with all shapes. All of them are listed.
func TestEveryCaseOfTheSmallestSizeGivesAFigure(t *testing.T) {
	tier.Slow(t, "whole processes")
	r := measured(t, "-shapes", "all", "-only", "^process .*( wide|yaml|drawn|ms|start-up)$|^[^p]")
	found := r.Find(results.Key{Case: "process update thin", Shape: shape.Wide, Size: 3, Subject: results.Sluice})
	require.NotNil(t, found)
	require.EqualValues(t, 3, found.Latencies.Count(), "a thin program says how long it waited")
	cases := map[string]bool{}
	for i := range r.Results {
		cases[r.Results[i].Name()] = true
	}

	var list bytes.Buffer
	require.NoError(t, command(t.Context(), append(slices.Clone(everyCase), "-shapes", "all", "-list"), &list, io.Discard))
	for name := range cases {
		require.Regexp(t, "(?m)^"+regexp.QuoteMeta(name)+" ", list.String())
	}
	for _, s := range shape.Simple() {
		for _, name := range []string{"preview sdk", "preview thin", "update thin", "update same thin", "destroy thin"} {
			name = "process " + name + " " + s
			require.Regexp(t, "(?m)^"+name+" ", list.String())
			cases[name] = true
		}
	}
	for _, o := range inprocess.Operations() {
		on := shape.All()
		switch o {
		case "update replace":
			on = []string{shape.Hub}
		case "import":
			on = []string{shape.Wide}
		}
		for _, s := range on {
			require.Contains(t, cases, "engine "+o+" "+s)
		}
	}
	for _, name := range []string{
		"process preview node wide", "process update node wide", "process preview python wide", "process destroy python wide",
		"process preview replace thin hub 20ms", "process update replace thin hub 20ms", "process preview nothing yaml", "process update service thin wide 50ms",
		"process preview yaml", "process update yaml", "process destroy yaml", "process start-up", "process preview same thin wide 10ms", "read a checkpoint",
		"process preview known thin wide 10ms", "process preview known node wide 10ms", "process up changed thin wide 10ms", "process up one thin wide 10ms",
		"process preview read thin wide 10ms",
		"memory at the end of an update wide", "replace a hub, preview hub 20ms", "replace a hub, update hub 20ms",
	} {
		require.Contains(t, cases, name)
	}

	for _, args := range documented(t) {
		f, err := parse(args, io.Discard)
		require.NoError(t, err, "%q", args)
		require.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(cases)), f.Only.MatchString), "no case is of %q", args)
	}
}

func TestCasesAreProfiled(t *testing.T) {
	tier.Slow(t, "whole processes")
	profiles := t.TempDir()
	measured(t, "-shapes", "wide,chain", "-profiles", profiles, "-profile-for", "1ms",
		"-only", "^(process preview sdk wide|process update drawn|engine destroy chain|read a checkpoint)$")
	for _, name := range []string{
		"process-preview-sdk_wide_3_sluice.cpu.pb.gz", "process-preview-sdk_wide_3_floor.mem.pb.gz", "process-update-drawn_3_undrawn.cpu.pb.gz",
		"engine-destroy_chain_3_channels.cpu.pb.gz", "read-a-checkpoint_*_sluice.mem.pb.gz",
	} {
		found, err := filepath.Glob(filepath.Join(profiles, name))
		require.NoError(t, err)
		require.Len(t, found, 1, name)
	}
}

func TestOnlyTheCasesAskedForAreMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	var table bytes.Buffer
	args := []string{"-sizes", "2", "-runs", "2", "-shapes", "chain", "-only", "engine preview new", "-out", file}
	require.NoError(t, command(t.Context(), args, &table, io.Discard))
	require.Contains(t, table.String(), "engine preview new chain")
	require.NotContains(t, table.String(), "process ")
	require.NotContains(t, table.String(), "wide")
}

func TestWhatMatchesNothingIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	err := command(t.Context(), []string{"-only", "preveiw", "-out", file}, io.Discard, io.Discard)
	require.ErrorContains(t, err, `no case matches -only "preveiw"`)
	require.NoFileExists(t, file)
}

func TestReportsAreComparedDrawnAndProfiled(t *testing.T) {
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	file, plots, profiles, trace := at("r.json"), at("plots"), at("profiles"), at("trace")
	args := []string{
		"-sizes", "2,4", "-runs", "1", "-shapes", "wide", "-only", "engine preview new", "-out", file,
		"-plots", plots, "-trace", trace, "-format", "benchstat",
	}
	var printed, log bytes.Buffer
	require.NoError(t, command(t.Context(), args, &printed, &log))
	require.Contains(t, printed.String(), "BenchmarkEnginePreviewNew/shape=wide/resources=2/who=sluice")
	require.FileExists(t, filepath.Join(plots, "index.html"))
	require.FileExists(t, filepath.Join(plots, "engine-preview-new-wide-4_waits.svg"))
	info, err := os.Stat(trace)
	require.NoError(t, err)
	require.Positive(t, info.Size())
	printed.Reset()
	require.NoError(t, command(t.Context(), []string{"-in", file, "-compare", file}, &printed, io.Discard))
	require.Contains(t, printed.String(), "sec/op ÷ channels")
	require.Contains(t, printed.String(), "allocs/op")

	// A profile has labels.
	args = []string{"-sizes", "2", "-runs", "1", "-shapes", "wide", "-only", "engine update new", "-out", at("p.json"), "-profiles", profiles, "-profile-for", "1ms"}
	log.Reset()
	require.NoError(t, command(t.Context(), args, io.Discard, &log))
	require.Contains(t, log.String(), "4 profiles are in "+profiles)
	for _, who := range []string{results.Sluice, results.Channels} {
		text, err := os.ReadFile(filepath.Join(profiles, "engine-update-new_wide_2_"+who+".mem.pb.gz"))
		require.NoError(t, err)
		p, err := profile.ParseData(text)
		require.NoError(t, err)
		for _, s := range p.Sample {
			require.Equal(t, map[string][]string{"case": {"engine update new"}, "shape": {"wide"}, "resources": {"2"}, "who": {who}}, s.Label)
		}
	}

	// The same, but ten times as slow, beside a baseline that is not.
	slower, err := results.Read(file)
	require.NoError(t, err)
	faster, err := results.Read(file)
	require.NoError(t, err)
	for i := range slower.Results {
		if slower.Results[i].Subject != results.Sluice {
			slower.Results[i].Runs = map[results.Metric]results.Sample{results.Time: {1, 1.1, 1.2, 1.3, 1.4}}
			faster.Results[i].Runs = slower.Results[i].Runs
			continue
		}
		slower.Results[i].Runs = map[results.Metric]results.Sample{results.Time: {10, 11, 12, 13, 14}}
		faster.Results[i].Runs = map[results.Metric]results.Sample{results.Time: {1, 1.1, 1.2, 1.3, 1.4}}
	}
	one, other := at("faster.json"), at("slower.json")
	require.NoError(t, faster.Write(one))
	require.NoError(t, slower.Write(other))
	require.ErrorContains(t, command(t.Context(), []string{"-in", other, "-compare", one}, io.Discard, io.Discard), "2 figures are worse")
	require.NoError(t, command(t.Context(), []string{"-in", one, "-compare", other}, io.Discard, io.Discard))
}

func TestUnusableFlagsAreRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"size": {"-sizes", "many"}, "no size": {"-sizes", "0"}, "too large": {"-sizes", "1000001"}, "shape": {"-shapes", "ring"}, "runs": {"-runs", "0"},
		"pattern": {"-only", "("}, "operation": {"-operations", "undo"}, "latency": {"-latencies", "slow"}, "format": {"-format", "pdf"}, "columns": {"-columns", "some"}, "argument": {"extra"},
		"no such file": {"-in", "no-such-file"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, command(t.Context(), args, io.Discard, io.Discard))
		})
	}
}

// cancelling is a log that cancels when a text is written to it.
type cancelling struct {
	text   string
	cancel context.CancelFunc
}

// Write implements [io.Writer].
func (c cancelling) Write(text []byte) (int, error) {
	if strings.Contains(string(text), c.text) {
		c.cancel()
	}
	return len(text), nil
}

func TestAnInterruptKeepsWhatWasMeasuredAndTheRestIsResumed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	args := []string{"-sizes", "2,3", "-runs", "1", "-shapes", "wide", "-only", "engine preview (new|same)", "-out", file}
	var listed bytes.Buffer
	require.NoError(t, command(t.Context(), append(slices.Clone(args), "-list"), &listed, io.Discard))
	require.Contains(t, listed.String(), "engine preview same wide  3")
	require.Contains(t, listed.String(), "4 cases")
	require.NoFileExists(t, file)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var table bytes.Buffer
	err := command(ctx, args, &table, cancelling{"same wide (2)", cancel})
	require.ErrorContains(t, err, "interrupted")
	require.ErrorContains(t, err, "2 of 4 cases are in "+file+"; -resume "+file)
	require.Contains(t, table.String(), "engine preview new wide")
	before, err := results.Read(file)
	require.NoError(t, err)
	require.Equal(t, 2, before.Cases())

	listed.Reset()
	require.NoError(t, command(t.Context(), []string{"-resume", file, "-list"}, &listed, io.Discard))
	require.NotContains(t, listed.String(), "preview new")
	require.Contains(t, listed.String(), "2 cases")
	table.Reset()
	require.NoError(t, command(t.Context(), []string{"-resume", file}, &table, io.Discard))
	require.Contains(t, table.String(), "engine preview same wide")
	after, err := results.Read(file)
	require.NoError(t, err)
	require.Equal(t, 4, after.Cases())
	require.Equal(t, before.Results, after.Results[:len(before.Results)])
	require.NoError(t, command(t.Context(), []string{"-resume", file}, io.Discard, io.Discard), "nothing is left")

	after.Commit = "another"
	require.NoError(t, after.Write(file))
	require.ErrorContains(t, command(t.Context(), []string{"-resume", file}, io.Discard, io.Discard), "was measured at commit another")
}
