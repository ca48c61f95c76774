package results

import "slices"

// The subjects that others are compared with, besides [Floor].
const (
	Channels  = "channels"    // the engine's steps without an engine, in process
	FloorThin = "floor-thin"  // the floor with as many resources of a thin program, where it cannot run the program itself
	Empty     = "empty"       // a process that does nothing
	Decoder   = "json"        // encoding/json, for the same file
	Files     = "files"       // the same with the state in a folder
	Undrawn   = "undrawn"     // the same without a display
	Alone     = "alone"       // the program with a monitor that answers at once
	Again     = "asked again" // the same without answers of before
	All       = "all read"    // the same, but everything is read
	Destroy   = "destroy of the same"
)

// baselines are the subjects that others can be compared with, the best first. Each is on every machine.
func baselines() []string {
	return []string{Floor, Channels, Files, Undrawn, Alone, Again, All, FloorThin, Decoder, Empty, Destroy}
}

// Baseline returns the subject with which the others of a case are compared, "" if the case has none.
func (r *Report) Baseline(k Key) string {
	for _, subject := range baselines() {
		if r.Find(k.Of(subject)) != nil {
			return subject
		}
	}
	return ""
}

// Ratios returns a metric of each run divided by that of the baseline's run beside it. Contenders run by turns, so whatever else the machine did
// is in both. It is nil for the baseline itself, and if something is missing.
func (r *Report) Ratios(of *Result, m Metric) Sample {
	base := r.Baseline(of.Key)
	if base == "" || base == of.Subject {
		return nil
	}
	return ratios(of, r.Find(of.Of(base)), m)
}

// ratios are those of the runs of two results, nil if they are not comparable.
func ratios(of, base *Result, m Metric) Sample {
	if base == nil || len(of.Runs[m]) == 0 || len(of.Runs[m]) != len(base.Runs[m]) || slices.Min(base.Runs[m]) <= 0 {
		return nil
	}
	out := make(Sample, len(of.Runs[m]))
	for i, v := range of.Runs[m] {
		out[i] = v / base.Runs[m][i]
	}
	return out
}

// PerResource returns a metric divided by the number of resources, nil for a case without resources.
func (r *Result) PerResource(m Metric) Sample {
	if r.Size == 0 || len(r.Runs[m]) == 0 {
		return nil
	}
	out := slices.Clone(r.Runs[m])
	for i := range out {
		out[i] /= float64(r.Size)
	}
	return out
}
