package results

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
)

// Sample has the values of the runs of one metric.
type Sample []float64

// Median returns the median, 0 without runs.
func (s Sample) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	return benchmath.AssumeNothing.Summary(s.math(), 0.95).Center
}

func (s Sample) math() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
}

// Range returns the least and the most.
func (s Sample) Range() (least, most float64) { return slices.Min(s), slices.Max(s) }

// Outliers returns the runs whose distance from the middle half of the runs is more than three times its width (Tukey's far outliers), and
// more than a tenth of the median, because equal runs have no width.
func (s Sample) Outliers() []float64 {
	if len(s) < 4 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(s))
	low, high := Quantile(sorted, 0.25), Quantile(sorted, 0.75)
	room := max(3*(high-low), math.Abs(s.Median())/10)
	return slices.DeleteFunc(sorted, func(v float64) bool { return v >= low-room && v <= high+room })
}

// Quantile returns a quantile of sorted values, interpolated between two of them if necessary.
func Quantile(sorted []float64, p float64) float64 {
	return stat.Quantile(p, stat.LinInterp, sorted, nil)
}

// Change is the difference between two samples of one metric.
type Change struct {
	Old, New float64 // medians
	P        float64 // the probability of such samples if nothing has changed (Mann-Whitney U test)
	Alpha    float64 // below it, a change is significant
	// TooFew means that no change could be significant: with so few runs, even samples that do not overlap are not unlikely enough.
	TooFew bool
}

// Compare compares samples as benchstat does.
func Compare(older, newer Sample) Change {
	c := benchmath.AssumeNothing.Compare(older.math(), newer.math())
	least := 2 / float64(combin.Binomial(len(older)+len(newer), len(older)))
	return Change{Old: older.Median(), New: newer.Median(), P: c.P, Alpha: c.Alpha, TooFew: least >= c.Alpha}
}

// Significant reports whether chance is an unlikely reason for the change.
func (c Change) Significant() bool { return c.Old != c.New && c.P < c.Alpha }

// Ratio returns the new median divided by the old one, 1 if both are 0.
func (c Change) Ratio() float64 {
	if c.Old == c.New {
		return 1
	}
	return c.New / c.Old
}

// Growth is the growth of a metric with the size: as its Exponent-th power. Fit is 1 for an exact fit, and less otherwise (R²).
type Growth struct {
	Key      Key     `json:"key"` // without a size
	Metric   Metric  `json:"metric"`
	Exponent float64 `json:"exponent"`
	Fit      float64 `json:"fit"`
	Sizes    []int   `json:"sizes"`
}
