package results

import (
	"path/filepath"
	"time"
)

// History has the reports of before. It estimates how long cases take.
type History []*Report

// ReadHistory reads the reports in a folder. It leaves out files that are none.
func ReadHistory(folder string) History {
	files, _ := filepath.Glob(filepath.Join(folder, "*.json")) // the pattern is valid
	var h History
	for _, file := range files {
		if r, err := Read(file); err == nil {
			h = append(h, r)
		}
	}
	return h
}

// Estimate returns how long a case takes with so many runs and a warm-up. known is false if it was never measured. A case of another size counts
// as if its time grew as its size. If there is none, one of another shape without latency counts.
func (h History) Estimate(k Key, runs int) (took time.Duration, known bool) {
	if took, known = h.estimate(k, runs); known || k.Latency != "" {
		return took, known
	}
	for _, r := range h {
		for i := range r.Results {
			if of := &r.Results[i]; of.Case == k.Case && of.Latency == "" && of.Took > 0 {
				k.Shape = of.Shape
				return h.estimate(k, runs)
			}
		}
	}
	return 0, false
}

func (h History) estimate(k Key, runs int) (took time.Duration, known bool) {
	var newest time.Time
	exact := false
	for _, r := range h {
		sums := map[int]float64{} // seconds for each round of runs, by size
		for i := range r.Results {
			of := &r.Results[i]
			if of.Case != k.Case || of.Shape != k.Shape || of.Latency != k.Latency || of.Took == 0 {
				continue
			}
			rounds := 1
			for _, s := range of.Runs {
				rounds = max(rounds, len(s)+1)
			}
			sums[of.Size] += of.Took / float64(rounds)
		}
		for size, each := range sums {
			same := size == k.Size || k.Size == 0
			if exact && !same || same == exact && r.Time.Before(newest) {
				continue
			}
			if !same && size > 0 {
				each *= float64(k.Size) / float64(size)
			}
			exact, newest, known = same, r.Time, true
			took = time.Duration(each * float64(runs+1) * float64(time.Second))
		}
	}
	return took, known
}
