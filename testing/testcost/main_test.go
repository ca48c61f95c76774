package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheCostOfATestIncludesWhatItWaitsFor(t *testing.T) {
	dir := t.TempDir()
	status, err := run(dir, "sh", []string{"-c", `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; exit 3`})
	require.NoError(t, err)
	require.Equal(t, 3, status)
	costs, err := read(dir)
	require.NoError(t, err)
	require.Len(t, costs, 1)
	require.Equal(t, ".", costs[0].Package)
	require.Positive(t, costs[0].Processor)
}

func TestASignalIsAFailure(t *testing.T) {
	status, err := run(t.TempDir(), "sh", []string{"-c", `kill -9 $$`})
	require.NoError(t, err)
	require.Equal(t, 1, status)
}

func TestAQuarterAboveTheBudgetIsRefused(t *testing.T) {
	costs := []cost{{Package: "a", Processor: 70 * time.Second}, {Package: "b", Processor: 55 * time.Second}}
	var out strings.Builder
	status, err := report(&out, costs, 100*time.Second)
	require.NoError(t, err)
	require.Zero(t, status)
	require.Contains(t, out.String(), "The tests of 2 packages took 2m5s of processor time. The budget is 1m40s.")
	status, err = report(&out, costs, 99*time.Second)
	require.ErrorContains(t, err, "above the budget of 1m39s")
	require.Equal(t, 1, status)
}

func TestNoCostsAreAnError(t *testing.T) {
	_, err := command([]string{"report", t.TempDir()}, os.Stdout)
	require.ErrorContains(t, err, "-count=1")
	status, err := command([]string{"reprot"}, os.Stdout)
	require.ErrorContains(t, err, "usage")
	require.Equal(t, 2, status)
}

func TestTheSlowTierIsWhatTheFirstOneHasSkipped(t *testing.T) {
	arguments, err := skipped(strings.NewReader(`{"Action":"output","Package":"a/b","Test":"TestOne/part","Output":"x.go:1: a test of the slow tier (Java): go test -tags slow"}
{"Action":"skip","Package":"a/b","Test":"TestOne/part"}
{"Action":"output","Package":"a/b","Test":"TestTwo","Output":"x.go:1: not on this system"}
{"Action":"output","Package":"a","Test":"TestThree","Output":"a test of the slow tier (kills): go test -tags slow"}
`))
	require.NoError(t, err)
	require.Equal(t, "-run ^(TestOne|TestThree)$ a a/b", arguments)
	_, err = skipped(strings.NewReader(`{"Action":"pass","Package":"a"}`))
	require.ErrorContains(t, err, "no test of the slow tier was skipped")
}
