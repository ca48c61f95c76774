package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/shape"
)

func TestEveryCaseOfTheSmallestSizeGivesAFigure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results", "bench.json")
	var table bytes.Buffer
	args := []string{"-sizes", "3", "-runs", "1", "-existing", "2", "-dependents", "2", "-checkpoint", "1", "-out", file}
	require.NoError(t, command(t.Context(), args, &table, io.Discard))

	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var r Report
	require.NoError(t, json.Unmarshal(data, &r))
	cases := map[string]bool{}
	for _, f := range r.Figures {
		cases[f.Case] = true
		require.Len(t, f.Value.Runs, 1, f.Case)
		require.Contains(t, table.String(), f.Case)
	}
	for _, s := range shape.All {
		for _, name := range []string{"process preview " + s + " sdk", "process preview " + s + " thin", "engine preview new " + s, "engine preview same " + s, "engine destroy " + s} {
			require.Contains(t, cases, name)
		}
	}
	for _, name := range []string{
		"process update wide thin", "process destroy wide", "process preview yaml", "process start-up", "memory of an update", "slow calls, in process",
		"slow calls, processes", "delete-before-replace", "read a checkpoint",
	} {
		require.Contains(t, cases, name)
	}
}

func TestOnlyTheCasesAskedForAreMeasured(t *testing.T) {
	var table bytes.Buffer
	args := []string{"-sizes", "2", "-runs", "2", "-shapes", "chain", "-only", "engine preview new", "-out", filepath.Join(t.TempDir(), "r.json")}
	require.NoError(t, command(t.Context(), args, &table, io.Discard))
	require.Contains(t, table.String(), "engine preview new chain")
	require.NotContains(t, table.String(), "process ")
	require.NotContains(t, table.String(), "wide")
}

func TestUnusableFlagsAreRefused(t *testing.T) {
	for name, args := range map[string][]string{
		"size": {"-sizes", "many"}, "no size": {"-sizes", "0"}, "shape": {"-shapes", "ring"}, "runs": {"-runs", "0"}, "pattern": {"-only", "("},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, command(t.Context(), args, io.Discard, io.Discard))
		})
	}
}

func TestVerdictComparesWithTheTarget(t *testing.T) {
	f := Figure{Value: sampleOf([]float64{30, 10, 20})}
	require.Empty(t, f.verdict())
	require.Equal(t, "ok", f.against("floor", sampleOf([]float64{15, 14}), 1.5).verdict())
	require.Equal(t, "missed", f.against("floor", computed(10), 1.5).verdict())
	require.Equal(t, Sample{Median: 20, Min: 10, Max: 30, Runs: []float64{30, 10, 20}}, f.Value)
}
