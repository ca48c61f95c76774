package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"text/tabwriter"
	"time"
)

// Figure is one line of the report. Base is a measured baseline, or a computed one, which has no runs.
type Figure struct {
	Case   string  `json:"case"`
	Size   int     `json:"size"` // number of resources; 0 if it means nothing
	Unit   string  `json:"unit"`
	Value  Sample  `json:"value"`
	Versus string  `json:"versus,omitempty"` // the name of the base
	Base   *Sample `json:"base,omitempty"`
	// Ratio is the median of Value divided by that of Base, 0 without a base.
	Ratio float64 `json:"ratio,omitempty"`
	// Target is the largest good Ratio, or the largest good median if there is no Base; 0 means no target.
	Target float64 `json:"target,omitempty"`
}

// against returns the figure with a baseline.
func (f Figure) against(versus string, base Sample, target float64) Figure {
	f.Versus, f.Base, f.Ratio, f.Target = versus, &base, f.Value.Median/base.Median, target
	return f
}

// verdict returns "ok" or "missed", or "" without a target.
func (f Figure) verdict() string {
	judged := f.Value.Median
	if f.Base != nil {
		judged = f.Ratio
	}
	switch {
	case f.Target == 0:
		return ""
	case judged <= f.Target:
		return "ok"
	}
	return "missed"
}

// Report holds all measurements of one run of the command, and describes the machine.
type Report struct {
	Time     time.Time `json:"time"`
	Commit   string    `json:"commit,omitempty"`
	System   string    `json:"system"`
	CPUs     int       `json:"cpus"`
	Go       string    `json:"go"`
	Runs     int       `json:"runs"`
	Figures  []Figure  `json:"figures"`
	Duration string    `json:"duration"`
}

func newReport(runs int) *Report {
	r := &Report{
		Time: time.Now().UTC(), System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version(), Runs: runs,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Commit = s.Value
			}
		}
	}
	return r
}

// print writes the table.
func (r *Report) print(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d processors, %s, %d runs each, medians (least–most)\n\n", r.System, r.CPUs, r.Go, r.Runs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tresources\tmeasured\tagainst\t\tratio\ttarget\t")
	for _, f := range r.Figures {
		size, base, ratio, target := "", "", "", ""
		if f.Size > 0 {
			size = fmt.Sprint(f.Size)
		}
		if f.Base != nil {
			base, ratio = f.Base.text(f.Unit), fmt.Sprintf("%.2f", f.Ratio)
		}
		if f.Target > 0 {
			target = fmt.Sprintf("%s %g", f.verdict(), f.Target)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", f.Case, size, f.Value.text(f.Unit), f.Versus, base, ratio, target)
	}
	return t.Flush()
}

func (s Sample) text(unit string) string {
	if len(s.Runs) == 0 {
		return fmt.Sprintf("%.3g %s", s.Median, unit)
	}
	return fmt.Sprintf("%.4g %s (%.4g–%.4g)", s.Median, unit, s.Min, s.Max)
}

// write writes the JSON file.
func (r *Report) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
