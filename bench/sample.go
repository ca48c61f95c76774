package main

import (
	"context"
	"runtime"
	"slices"
	"time"
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

// computed is a sample that is not measured.
func computed(v float64) Sample { return Sample{Median: v, Min: v, Max: v} }

// reading is one measurement: how long something took by the clock, and how much time processors worked on it, 0 where
// the system does not say; and of a process the most memory that it had at once and what it wrote to disks with those that
// it started, in bytes, 0 where the system does not say.
type reading struct {
	clock, work   time.Duration
	peak, written int64
}

// probe makes one measurement.
type probe func(ctx context.Context) (reading, error)

// readings are the measurements of one thing.
type readings []reading

// clock returns the times by the clock, in a unit.
func (rs readings) clock(unit time.Duration) Sample {
	return rs.sample(func(r reading) float64 { return float64(r.clock) / float64(unit) })
}

// work returns the processor times, in a unit; ok is false where they are not known.
func (rs readings) work(unit time.Duration) (s Sample, ok bool) {
	s = rs.sample(func(r reading) float64 { return float64(r.work) / float64(unit) })
	return s, s.Min > 0
}

func (rs readings) sample(value func(reading) float64) Sample {
	values := make([]float64, len(rs))
	for i, r := range rs {
		values[i] = value(r)
	}
	return sampleOf(values)
}

// repeat measures one thing, after one run that does not count.
func repeat(ctx context.Context, runs int, p probe) (readings, error) {
	all, err := byTurns(ctx, runs, p)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// byTurns measures several things A B A B, after one run of each that does not count.
func byTurns(ctx context.Context, runs int, probes ...probe) ([]readings, error) {
	out := make([]readings, len(probes))
	for i := range runs + 1 {
		for j, p := range probes {
			runtime.GC() // what the run before left must not be this one's
			r, err := p(ctx)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out[j] = append(out[j], r)
			}
		}
	}
	return out, nil
}

// timed measures f in this process.
func timed(f func() error) (reading, error) {
	began, worked := time.Now(), workSoFar()
	err := f()
	return reading{clock: time.Since(began), work: workSoFar() - worked}, err
}
