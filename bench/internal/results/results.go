package results

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/sluice-iac/sluice/internal/platform/files"
)

// Metric names a figure by its unit, as benchstat does.
type Metric string

// The metrics of an operation. Memory and goroutines are maxima; those of a process do not include its child processes.
const (
	Time       Metric = "sec/op"
	Work       Metric = "cpu-sec/op"    // processor time, including that of child processes
	Collector  Metric = "gc-cpu-sec/op" // processor time of the garbage collector, which is a part of it
	Collected  Metric = "gcs/op"        // how often the collector ran
	Rate       Metric = "resources/sec"
	Allocated  Metric = "B/op"
	Allocs     Metric = "allocs/op"
	Peak       Metric = "peak-B"
	Goroutines Metric = "goroutines"
	Written    Metric = "written-B/op" // of a process: to disks; in process: passed to the system
	Syncs      Metric = "fsyncs/op"    // waits of the state for the disk
	Calls      Metric = "calls/op"     // of providers
	P50        Metric = "p50-sec"      // of the latencies of Register
	P95        Metric = "p95-sec"
	P99        Metric = "p99-sec"
	Slowest    Metric = "max-sec"
)

// Metrics returns all metrics, in the order in which they are shown.
func Metrics() []Metric {
	return []Metric{Time, Work, Rate, Allocated, Allocs, Peak, Collector, Collected, Goroutines, Written, Syncs, Calls, P50, P95, P99, Slowest}
}

// Timed reports whether a metric is a time or a rate: its value says something only beside that of a baseline, which the same machine measured at the
// same time. Counts and sizes can be compared with those of another day.
func (m Metric) Timed() bool {
	return slices.Contains([]Metric{Time, Work, Rate, Collector, P50, P95, P99, Slowest}, m)
}

// MoreIsBetter reports whether a larger value is a better one.
func (m Metric) MoreIsBetter() bool { return m == Rate }

// The subjects. Other programs have names of their own.
const (
	Sluice = "sluice"
	Floor  = "floor" // a bare monitor
)

// Key identifies a case.
type Key struct {
	Case    string `json:"case"`
	Shape   string `json:"shape,omitempty"`
	Latency string `json:"latency,omitempty"` // of provider calls; "" for none
	Size    int    `json:"size,omitempty"`    // number of resources; 0 if it does not apply
	Subject string `json:"subject"`
}

// Name returns the name that -only matches.
func (k Key) Name() string {
	return strings.Join(strings.Fields(k.Case+" "+k.Shape+" "+k.Latency), " ")
}

// Of returns the same case of another subject.
func (k Key) Of(subject string) Key {
	k.Subject = subject
	return k
}

// Target is a limit on the ratio of the medians of a metric and of that of Versus, or on the median if Versus is empty. Versus is a subject, or
// [Ideal].
type Target struct {
	Metric Metric  `json:"metric"`
	Versus string  `json:"versus,omitempty"`
	AtMost float64 `json:"atMost"`
}

// Ideal is the pseudo-subject of an operation in which only provider calls take time.
const Ideal = "ideal"

// Result has the runs of one case.
type Result struct {
	Key
	Runs    map[Metric]Sample `json:"runs"` // each in the order of the runs
	Ideal   float64           `json:"ideal,omitempty"`
	Targets []Target          `json:"targets,omitempty"`
	// Latencies are those of the answers to resources in all runs, and Timeline is of the run that is not counted. Both are nil if they are unknown.
	Latencies *Latencies `json:"latencies,omitempty"`
	Timeline  []Moment   `json:"timeline,omitempty"`
	// Others is the share of the processors, from 0 to 1, that other programs used during the runs of the case; negative if it is unknown.
	Others float64 `json:"others"`
	// Took is how long all runs took in seconds, with the warm-up and with what is not measured; 0 in a trial.
	Took float64 `json:"took,omitempty"`
}

// busy is the share of the processors from which other programs disturb the measurement.
const busy = 0.1

// Busy returns how many cases were measured while other programs used a noticeable share of the processors, and the largest share.
func (r *Report) Busy() (cases int, most float64) {
	disturbed := map[Key]bool{}
	for i := range r.Results {
		if of := &r.Results[i]; of.Others > busy {
			disturbed[of.Of("")] = true
			most = max(most, of.Others)
		}
	}
	return len(disturbed), most
}

// Outliers returns the results, by name and subject, some of whose runs are far from the others in time.
func (r *Report) Outliers() []string {
	var names []string
	for i := range r.Results {
		of := &r.Results[i]
		if len(of.Runs[Time].Outliers())+len(of.Runs[Work].Outliers()) == 0 {
			continue
		}
		name := of.Name()
		if of.Size > 0 {
			name += " " + strconv.Itoa(of.Size)
		}
		names = append(names, name+" "+of.Subject)
	}
	return names
}

// Report has all results of one run of the command.
type Report struct {
	Time     time.Time         `json:"time"`
	Duration string            `json:"duration"`
	Commit   string            `json:"commit"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"` // of the measured programs, as they say them
	// Arguments are those of the command, and Planned is the number of selected cases.
	Arguments []string `json:"arguments,omitempty"`
	Planned   int      `json:"planned,omitempty"`
	Missing   []string `json:"missing,omitempty"`
	Results   []Result `json:"results"`
}

// Miss records that a program is not on PATH.
func (r *Report) Miss(name string) {
	if !slices.Contains(r.Missing, name) {
		r.Missing = append(r.Missing, name)
	}
}

// Find returns a result, nil if there is none.
func (r *Report) Find(k Key) *Result {
	for i := range r.Results {
		if r.Results[i].Key == k {
			return &r.Results[i]
		}
	}
	return nil
}

// Has reports whether a case has results, whoever the subject is. A case without a size has them at any.
func (r *Report) Has(k Key) bool {
	return slices.ContainsFunc(r.Results, func(of Result) bool {
		other := of.Of("")
		if k.Size == 0 {
			other.Size = 0
		}
		return other == k.Of("")
	})
}

// Cases returns the number of cases that have results.
func (r *Report) Cases() int {
	seen := map[Key]bool{}
	for i := range r.Results {
		seen[r.Results[i].Of("")] = true
	}
	return len(seen)
}

// Verdict returns "ok" or "missed", and the figure compared with the target: the median, or that of the ratios of the runs. It returns "" if there is
// nothing to compare.
func (r *Report) Verdict(of *Result, t Target) (verdict string, judged float64) {
	s := of.Runs[t.Metric]
	switch t.Versus {
	case "":
	case Ideal:
		s = ratios(of, &Result{Runs: map[Metric]Sample{t.Metric: slices.Repeat(Sample{of.Ideal}, len(s))}}, t.Metric)
	default:
		s = ratios(of, r.Find(of.Of(t.Versus)), t.Metric)
	}
	if len(s) == 0 {
		return "", 0
	}
	judged = s.Median()
	if judged <= t.AtMost {
		return "ok", judged
	}
	return "missed", judged
}

// Read reads a report written by Write.
func Read(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s is not a report of this command: %w", path, err)
	}
	if len(r.Results) == 0 {
		return nil, fmt.Errorf("%s has no results", path)
	}
	return &r, nil
}

// Write writes the report to a file, and makes its folder. The file is replaced as a whole.
func (r *Report) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	// A reader, and whoever comes after a kill, finds the whole of the old or of the new report.
	return files.Replace(path, 0o644, files.Content(append(data, '\n')))
}

// Grown fits the growth of metrics, for each case that has several sizes.
func (r *Report) Grown(metrics ...Metric) []Growth {
	var out []Growth
	seen := map[Key]bool{}
	for i := range r.Results {
		k := r.Results[i].Key
		k.Size = 0
		if seen[k] {
			continue
		}
		seen[k] = true
		for _, m := range metrics {
			var sizes []int
			var logSizes, logValues []float64
			for j := range r.Results {
				other := &r.Results[j]
				v := other.Runs[m].Median()
				same := other.Key
				same.Size = 0
				if same != k || other.Size == 0 || v <= 0 {
					continue
				}
				sizes = append(sizes, other.Size)
				logSizes, logValues = append(logSizes, math.Log(float64(other.Size))), append(logValues, math.Log(v))
			}
			if len(sizes) < 2 {
				continue
			}
			alpha, beta := stat.LinearRegression(logSizes, logValues, nil, false)
			fit := stat.RSquared(logSizes, logValues, nil, alpha, beta)
			if math.IsNaN(fit) { // all values are equal
				fit = 1
			}
			out = append(out, Growth{Key: k, Metric: m, Exponent: beta, Fit: fit, Sizes: sizes})
		}
	}
	return out
}
