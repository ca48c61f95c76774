package main

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Sample summarizes the runs of one measurement, in the unit of its figure.
type Sample struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Runs   []float64 `json:"runs"` // in the order of the runs
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

// computed returns a sample that is not measured.
func computed(v float64) Sample { return Sample{Median: v, Min: v, Max: v} }

// reading is one measurement: the elapsed time and the processor time. For a process it also has the largest amount of
// memory in use, and the bytes that the process and those that it started wrote to disks. A value is 0 if the system
// does not provide it.
type reading struct {
	clock, work   time.Duration
	peak, written int64
}

// probe makes one measurement.
type probe func(ctx context.Context) (reading, error)

// readings are the measurements of one case.
type readings []reading

// clock returns the elapsed times in a unit.
func (rs readings) clock(unit time.Duration) Sample {
	return rs.sample(func(r reading) float64 { return float64(r.clock) / float64(unit) })
}

// work returns the processor times in a unit. ok is false if they are not known.
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

// repeat measures one case. It runs it once before, without counting that run.
func repeat(ctx context.Context, runs int, p probe) (readings, error) {
	all, err := byTurns(ctx, runs, p)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// byTurns measures several cases alternately. It runs each once before, without counting these runs.
func byTurns(ctx context.Context, runs int, probes ...probe) ([]readings, error) {
	out := make([]readings, len(probes))
	for i := range runs + 1 {
		for j, p := range probes {
			runtime.GC() // so that this run does not collect the garbage of the run before
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
