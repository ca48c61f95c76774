package runner

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
)

// Settings select what is measured.
type Settings struct {
	Sizes      []int
	Shapes     []string
	Operations []string
	Latencies  []string // of provider calls
	Runs       int
	Callers    int            // registrations that a program in process makes at once; 0 means all
	Dependents int            // of a replaced hub
	Checkpoint int            // size of the state that is read in megabytes; 0 for none
	Only       *regexp.Regexp // matches names of cases
	Log        io.Writer      // receives the names of running cases
}

// Runner runs cases and keeps their results.
type Runner struct {
	Settings
	Report *results.Report
}

// New returns a runner with an empty report about this machine.
func New(ctx context.Context, s Settings) *Runner {
	return &Runner{Settings: s, Report: &results.Report{
		Time: time.Now().UTC(), Commit: results.Commit(ctx), Machine: results.ThisMachine(), Versions: map[string]string{},
	}}
}

// Wants reports whether a case is selected, and logs it if so.
func (r *Runner) Wants(k results.Key) bool {
	if !r.Only.MatchString(k.Name()) {
		return false
	}
	fmt.Fprintf(r.Log, "%s (%d)\n", k.Name(), k.Size)
	return true
}

// Contender is a subject that runs a case.
type Contender struct {
	Subject string
	Probe   func(ctx context.Context) (meter.Reading, error) // one run
	// Ideal is the ideal duration in seconds, 0 if it is unknown.
	Ideal   float64
	Targets []results.Target
}

// Measure runs the contenders of a case alternately and adds a result for each.
func (r *Runner) Measure(ctx context.Context, k results.Key, contenders ...Contender) error {
	load := results.Load()
	all := make([]results.Result, len(contenders))
	for i, c := range contenders {
		all[i] = results.Result{Key: k.Of(c.Subject), Runs: map[results.Metric]results.Sample{}, Ideal: c.Ideal, Targets: c.Targets, Load: load}
	}
	for run := range r.Runs + 1 {
		for i, c := range contenders {
			reading, err := c.Probe(ctx)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", k.Name(), c.Subject, err)
			}
			if run == 0 {
				continue
			}
			if k.Size > 0 && reading[results.Time] > 0 {
				reading[results.Rate] = float64(k.Size) / reading[results.Time]
			}
			for m, v := range reading {
				all[i].Runs[m] = append(all[i].Runs[m], v)
			}
		}
	}
	for i := range all {
		all[i].Warn()
	}
	r.Report.Results = append(r.Report.Results, all...)
	return nil
}
