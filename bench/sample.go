package main

import (
	"context"
	"runtime"
	"slices"
)

// Sample is what the runs of one thing gave, in the unit of its figure.
type Sample struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"` // in the order in which they were made
}

func sampleOf(runs []float64) Sample {
	sorted := slices.Sorted(slices.Values(runs))
	return Sample{Median: median(sorted), Min: sorted[0], Max: sorted[len(sorted)-1], Runs: runs}
}

func median(sorted []float64) float64 {
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// probe makes one measurement.
type probe func(ctx context.Context) (float64, error)

// repeat measures one thing, after one run that does not count.
func repeat(ctx context.Context, runs int, p probe) (Sample, error) {
	all, err := byTurns(ctx, runs, p)
	if err != nil {
		return Sample{}, err
	}
	return all[0], nil
}

// byTurns measures several things A B A B, after one run of each that does not count.
func byTurns(ctx context.Context, runs int, probes ...probe) ([]Sample, error) {
	values := make([][]float64, len(probes))
	for i := range runs + 1 {
		for j, p := range probes {
			runtime.GC() // what the run before left must not be this one's
			v, err := p(ctx)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				values[j] = append(values[j], v)
			}
		}
	}
	out := make([]Sample, len(probes))
	for j := range probes {
		out[j] = sampleOf(values[j])
	}
	return out, nil
}
