package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/executable"
	"github.com/sluice-iac/sluice/testing/tier"
)

func TestTheCostOfATestIncludesWhatItWaitsFor(t *testing.T) {
	dir := t.TempDir()
	status, err := run("", dir, "sh", []string{"-c", `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; exit 3`})
	require.NoError(t, err)
	require.Equal(t, 3, status)
	costs, err := read(dir)
	require.NoError(t, err)
	require.Len(t, costs, 1)
	require.Equal(t, ".", costs[0].Package)
	require.Positive(t, costs[0].Processor)
	require.GreaterOrEqual(t, costs[0].Pace, 1.0)
}

func TestTestsDoNotGetTheSettingOfTheCompiler(t *testing.T) {
	t.Setenv("GOGC", "400")
	status, err := run("", t.TempDir(), "sh", []string{"-c", `[ -z "$GOGC" ]`})
	require.NoError(t, err)
	require.Zero(t, status)
}

func TestASignalIsAFailure(t *testing.T) {
	status, err := run("", t.TempDir(), "sh", []string{"-c", `kill -9 $$`})
	require.NoError(t, err)
	require.Equal(t, 1, status)
}

func TestAQuarterAboveTheBudgetIsRefused(t *testing.T) {
	costs := []cost{{Package: "a", Processor: 70 * time.Second}, {Package: "b", Processor: 55 * time.Second}}
	var out strings.Builder
	status, err := report(&out, costs, 100*time.Second)
	require.NoError(t, err)
	require.Zero(t, status)
	require.Contains(t, out.String(), "The tests of 2 packages took 2m5s of processor time, which is 2m5s on a quiet machine. The budget is 1m40s.")
	status, err = report(&out, costs, 99*time.Second)
	require.ErrorContains(t, err, "above the budget of 1m39s")
	require.Equal(t, 1, status)
}

func TestABusyMachineIsNotAboveTheBudget(t *testing.T) {
	costs := []cost{{Package: "a", Processor: 210 * time.Second, Pace: 1.5}, {Package: "b", Processor: 10 * time.Second, Pace: 0.5}}
	var out strings.Builder
	status, err := report(&out, costs, 120*time.Second)
	require.NoError(t, err)
	require.Zero(t, status)
	require.Contains(t, out.String(), "took 3m40s of processor time, which is 2m30s on a quiet machine.")
	_, err = report(&out, costs, 119*time.Second)
	require.ErrorContains(t, err, "take 2m30s of processor time on a quiet machine")

	require.InDelta(t, 2, paceOf([]time.Duration{quietSample, 3 * quietSample}), 0)
	require.InDelta(t, 1, paceOf([]time.Duration{quietSample / 2}), 0, "a faster machine has no smaller budget")
	require.InDelta(t, 1, paceOf([]time.Duration{0}), 0, "the system does not tell it")
}

func TestNoCostsAreAnError(t *testing.T) {
	_, err := command([]string{"report", t.TempDir()}, os.Stdout)
	require.ErrorContains(t, err, "-count=1")
	status, err := command([]string{"reprot"}, os.Stdout)
	require.ErrorContains(t, err, "usage")
	require.Equal(t, 2, status)
}

func TestABinaryWithTestsOfTheSlowTierIsKept(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	binary := filepath.Join(dir, "x.test")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\necho \"$1\"\n"), 0o755))
	for _, says := range []string{"nothing", strings.Repeat("x", 1<<15) + tier.Mark} {
		status, err := run(kept, dir, binary, []string{says})
		require.NoError(t, err)
		require.Zero(t, status)
		all, err := os.ReadDir(kept)
		require.NoError(t, err)
		if says == "nothing" {
			require.Empty(t, all)
			continue
		}
		require.Len(t, all, 1)
	}
	var s seeker
	for _, c := range "before " + tier.Mark { // the mark may be in several writes
		require.False(t, s.found)
		_, err := s.Write([]byte(string(c)))
		require.NoError(t, err)
	}
	require.True(t, s.found)
}

func TestTheSlowTierIsWhatTheFirstOneHasSkipped(t *testing.T) {
	patterns, err := skipped(strings.NewReader(`{"Action":"output","Package":"a/b","Test":"TestOne/p.rt/of it","Output":"x.go:1: a test of the slow tier (Java): go test -tags slow"}
{"Action":"skip","Package":"a/b","Test":"TestOne/p.rt/of it"}
{"Action":"output","Package":"a/b","Test":"TestTwo","Output":"x.go:1: not on this system"}
{"Action":"output","Package":"a/b","Test":"TestFour/part","Output":"x.go:1: a test of the slow tier (Java): go test -tags slow"}
{"Action":"output","Package":"a/b","Test":"TestFour","Output":"x.go:1: a test of the slow tier does more (7 cases): go test -tags slow"}
{"Action":"output","Package":"a","Test":"TestThree","Output":"a test of the slow tier (kills): go test -tags slow"}
`))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "^TestThree$", "a/b": `^TestFour$|^TestOne$/^p\.rt$/^of it$`}, patterns)
	_, err = skipped(strings.NewReader(`{"Action":"pass","Package":"a"}`))
	require.ErrorContains(t, err, "no test of the slow tier was skipped")
}

func TestTheSlowTierRuns(t *testing.T) {
	const name = "github.com/sluice-iac/sluice/testing/testcost/testdata/tests"
	cost, kept, events := executableOf(t), t.TempDir(), filepath.Join(t.TempDir(), "first.jsonl")
	first := exec.Command("go", "test", "-json", "-vet=off", "-exec", cost+" run -keep "+kept+" "+t.TempDir(), name)
	first.Env = append(os.Environ(), tier.Variable+"=")
	out, err := first.Output()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.WriteFile(events, out, 0o600))

	costs := t.TempDir()
	var again strings.Builder
	here, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(here, kept)
	require.NoError(t, err)
	status, err := command([]string{"slow", "-skipped", events, relative, costs}, &again)
	require.NoError(t, err)
	require.Equal(t, 1, status, "one fails")
	for _, what := range []string{"slow runs", "more runs true", "the slow part runs", "a failure", `"Action":"fail","Package":"` + name} {
		require.Contains(t, again.String(), what)
	}
	require.NotContains(t, again.String(), "first runs")
	require.NotContains(t, again.String(), "the first part runs")
	for line := range strings.Lines(again.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	all, err := read(costs)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "testdata/tests", filepath.ToSlash(all[0].Package))

	require.NoError(t, os.RemoveAll(kept))
	_, err = command([]string{"slow", "-skipped", events, kept, costs}, &again)
	require.ErrorContains(t, err, "whose binary was not kept")
}

// executableOf returns the path of this command.
func executableOf(t *testing.T) string {
	t.Helper()
	path, err := executable.Shared(t.Context(), ".")
	require.NoError(t, err)
	return path
}
