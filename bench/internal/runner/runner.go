package runner

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/profiles"
	"github.com/sluice-iac/sluice/bench/internal/results"
)

// Settings select what is measured.
type Settings struct {
	Sizes      []int
	Shapes     []string
	Operations []string
	Latencies  []string // of provider calls
	Runs       int
	Trial      bool           // each case runs once, without a warm-up, which shows that it works
	Callers    int            // registrations that a program in process makes at once; 0 means all
	Dependents int            // of a replaced hub
	Checkpoint int            // size of the state that is read in megabytes; 0 for none
	Only       *regexp.Regexp // matches names of cases
	ProfileFor time.Duration  // how long the profiled runs of a contender take together
	Log        io.Writer      // receives the names of running cases
}

// Runner runs cases and keeps their results.
type Runner struct {
	Settings
	Report *results.Report
	// History estimates how long cases take.
	History results.History
	// File receives the report whenever a case has ended; "" is none.
	File string
	// Profiles is the folder that receives profiles of each contender; "" makes none.
	Profiles string
	// Profiled is how many profiles there are so far.
	Profiled int

	planning bool
	planned  []results.Key
	done     int // cases of the plan that are done
}

// New returns a runner that adds to a report. A nil report is an empty one about this machine.
func New(ctx context.Context, s Settings, report *results.Report) *Runner {
	if report == nil {
		report = &results.Report{Time: time.Now().UTC(), Commit: results.Commit(ctx), Machine: results.ThisMachine(), Versions: map[string]string{}}
	}
	return &Runner{Settings: s, Report: report}
}

// Plan calls f, which visits all cases, and returns those that are selected and have no results yet. No case is measured.
func (r *Runner) Plan(f func() error) ([]results.Key, error) {
	r.planning, r.planned = true, nil
	err := f()
	r.planning = false
	return r.planned, err
}

// Left estimates how long the cases of the plan that are not done take. unknown is the number of those that were never measured.
func (r *Runner) Left() (left time.Duration, unknown int) {
	for _, k := range r.planned[min(r.done, len(r.planned)):] {
		took, known := r.History.Estimate(k, r.Runs)
		if left += took; !known {
			unknown++
		}
	}
	return left, unknown
}

// Wants reports whether a case is to be measured now, and logs it if so: it is selected, and has no results.
func (r *Runner) Wants(k results.Key) bool {
	if !r.Only.MatchString(k.Name()) || r.Report.Has(k) {
		return false
	}
	if r.planning {
		if !slices.ContainsFunc(r.planned, func(other results.Key) bool { return other.Of("") == k.Of("") }) {
			r.planned = append(r.planned, k)
		}
		return false
	}
	if at := slices.IndexFunc(r.planned, func(other results.Key) bool { return other.Of("") == k.Of("") }); at >= 0 {
		r.done = at
	}
	fmt.Fprintf(r.Log, "%s (%d)%s\n", k.Name(), k.Size, r.progress())
	return true
}

// progress says which of the planned cases comes, and how long they will take; "" without a plan.
func (r *Runner) progress() string {
	if len(r.planned) == 0 {
		return ""
	}
	text := fmt.Sprintf(", %d of %d", r.done+1, len(r.planned))
	if left := Estimate(r.Left()); left != "" {
		text += ", " + left
	}
	return text
}

// Estimate writes an estimate for people; "" if nothing is known.
func Estimate(left time.Duration, unknown int) string {
	if left == 0 {
		return ""
	}
	text := max(left.Round(time.Second), time.Second).String()
	if left >= time.Minute {
		text = strings.TrimSuffix(left.Round(time.Minute).String(), "0s")
	}
	text = "about " + text
	if unknown > 0 {
		text += fmt.Sprintf(", without %d cases that were never measured here", unknown)
	}
	return text
}

// Contender is a subject that runs a case.
type Contender struct {
	Subject string
	Probe   Probe
	// Ideal is the ideal duration in seconds, 0 if it is unknown.
	Ideal   float64
	Targets []results.Target
}

// Probe is one run of a contender.
type Probe = func(ctx context.Context, run meter.Run) (meter.Reading, error)

// Measure runs the contenders of a case alternately, adds a result for each, and writes the report. The timeline of the first run of each is kept; the
// run is in no figure, unless this is a trial.
func (r *Runner) Measure(ctx context.Context, k results.Key, contenders ...Contender) error {
	others := meter.WatchOthers()
	all := make([]results.Result, len(contenders))
	for i, c := range contenders {
		all[i] = results.Result{Key: k.Of(c.Subject), Runs: map[results.Metric]results.Sample{}, Ideal: c.Ideal, Targets: c.Targets}
	}
	warmUps, runs := 1, r.Runs
	if r.Trial {
		warmUps, runs = 0, 1
	}
	for run := range warmUps + runs {
		for i, c := range contenders {
			began := time.Now()
			reading, err := c.Probe(ctx, meter.Run{Timeline: run == 0})
			if !r.Trial { // which says nothing about how long others take
				all[i].Took += time.Since(began).Seconds()
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", k.Name(), c.Subject, err)
			}
			if run == 0 {
				all[i].Timeline = reading.Timeline
			}
			if run >= warmUps {
				keep(&all[i], reading)
			}
		}
	}
	share := others()
	for i := range all {
		all[i].Others = share
	}
	r.Report.Results = append(r.Report.Results, all...)
	if r.File != "" {
		if err := r.Report.Write(r.File); err != nil {
			return err
		}
	}
	return r.profile(ctx, k, contenders)
}

// keep adds the reading of a run to a result.
func keep(of *results.Result, reading meter.Reading) {
	if of.Size > 0 && reading.Values[results.Time] > 0 {
		reading.Values[results.Rate] = float64(of.Size) / reading.Values[results.Time]
	}
	if reading.Latencies.Count() > 0 {
		if of.Latencies == nil {
			of.Latencies = &results.Latencies{}
		}
		of.Latencies.Add(reading.Latencies)
		for m, share := range map[results.Metric]float64{results.P50: 0.5, results.P95: 0.95, results.P99: 0.99} {
			reading.Values[m] = reading.Latencies.Quantile(share).Seconds()
		}
		reading.Values[results.Slowest] = reading.Latencies.Max().Seconds()
	}
	for m, v := range reading.Values {
		of.Runs[m] = append(of.Runs[m], v)
	}
}

// patience is how many times as long as it is to be profiled a contender may take with what is not measured, before it is left.
const patience = 3

// profile profiles further runs of each contender, which are in no figure, until they have taken long enough.
func (r *Runner) profile(ctx context.Context, k results.Key, contenders []Contender) error {
	if r.Profiles == "" {
		return nil
	}
	for _, c := range contenders {
		p := profiles.New(k.Of(c.Subject))
		began, seconds := time.Now(), 0.0
		for p.Empty() || seconds < r.ProfileFor.Seconds() && time.Since(began) < patience*r.ProfileFor {
			reading, err := c.Probe(ctx, meter.Run{Profile: p})
			if err != nil {
				return fmt.Errorf("%s, %s, with a profile: %w", k.Name(), c.Subject, err)
			}
			if p.Empty() {
				break // it writes no profiles
			}
			seconds += reading.Values[results.Time]
		}
		names, err := p.Write(r.Profiles)
		if err != nil {
			return err
		}
		r.Profiled += len(names)
	}
	return nil
}
