package formats

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// histograms draws how long resources waited for their answer, with one bar for each interval, which is twice as long as the one before.
func histograms(w io.Writer, r *results.Report, l Layout) error {
	any := false
	for i := range r.Results {
		of := &r.Results[i]
		bars := of.Latencies.Bars()
		if len(bars) == 0 {
			continue
		}
		if any {
			fmt.Fprintln(w)
		}
		any = true
		fmt.Fprintf(w, "%s (%d), %s\n", of.Name(), of.Size, of.Subject)
		wrapped(w, l.Width, 2, fmt.Sprintf("  from a registration to its answer, %d in %d runs: p50 %s, p95 %s, p99 %s, max %s",
			of.Latencies.Count(), len(of.Runs[results.Time]), round(of.Latencies.Quantile(0.5)), round(of.Latencies.Quantile(0.95)),
			round(of.Latencies.Quantile(0.99)), round(of.Latencies.Max())))
		var most int64
		for _, b := range bars {
			most = max(most, b.Count)
		}
		const before = 38
		for _, b := range bars {
			share := float64(b.Count) / float64(of.Latencies.Count())
			line := fmt.Sprintf("  %8s–%-8s %8d %5.1f %%  %s", round(b.From), round(b.To), b.Count, 100*share, blocks(float64(b.Count)/float64(most), max(10, l.Width-before)))
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
	if !any {
		return errors.New("the report has no histograms: cases in process and of thin programs have them")
	}
	return nil
}

// blocks is a bar of eighths of cells.
func blocks(share float64, width int) string {
	eighths := int(share*float64(width)*8 + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string(rune('▉' + 7 - rest))
	}
	return bar
}

func round(d time.Duration) string { return seconds(d.Seconds()) }

// timelines writes a line for each moment of each contender.
func timelines(w io.Writer, r *results.Report) error {
	out := csv.NewWriter(w)
	all := [][]string{{"case", "shape", "latency", "resources", "who", "at-sec", "memory-B", "live-B", "goal-B", "goroutines", "gcs", "gc-cpu-sec"}}
	for i := range r.Results {
		of := &r.Results[i]
		for _, m := range of.Timeline {
			line := []string{of.Case, of.Shape, of.Latency, strconv.Itoa(of.Size), of.Subject}
			for _, v := range []float64{m.At, m.Memory, m.Live, m.Goal, m.Goroutines, m.Collections, m.Collector} {
				line = append(line, number(v))
			}
			all = append(all, line)
		}
	}
	if len(all) == 1 {
		return errors.New("the report has no timelines: it was written by an older version")
	}
	return out.WriteAll(all)
}
