package results

import "time"

// Moment is what a contender used at a moment of a run. Everything but At is 0 if it is unknown.
type Moment struct {
	At     float64 `json:"at"`     // seconds since the beginning
	Memory float64 `json:"memory"` // bytes: in process what the heap and stacks have in use; of a process what the system says
	// Live are the bytes that the collector found alive when it ended last, and Goal is the size of the heap at which it begins again.
	Live       float64 `json:"live,omitempty"`
	Goal       float64 `json:"goal,omitempty"`
	Goroutines float64 `json:"goroutines,omitempty"`
	// Collections is how often the collector has ended since the beginning, and Collector is the processor time in seconds that it used, as Go's runtime
	// estimates it: on a busy machine it is too high.
	Collections float64 `json:"collections,omitempty"`
	Collector   float64 `json:"collector,omitempty"`
}

// most is the number of moments that a timeline keeps.
const most = 200

// Timeline collects the moments of one run. However long the run takes, it keeps at most 200 of them, which are equally far from each other.
// It is not safe for concurrent use.
type Timeline struct {
	moments []Moment
	every   time.Duration // between moments that are kept
}

// Add adds a moment, unless it is too near to the one before.
func (t *Timeline) Add(m Moment) {
	if n := len(t.moments); n > 0 && m.At-t.moments[n-1].At < t.every.Seconds() {
		return
	}
	if len(t.moments) == most {
		kept := t.moments[:0]
		for i, old := range t.moments {
			if i%2 == 0 {
				kept = append(kept, old)
			}
		}
		t.moments = kept
		t.every = max(2*t.every, time.Duration(2*m.At/most*float64(time.Second)))
	}
	t.moments = append(t.moments, m)
}

// Moments returns what was kept, in order.
func (t *Timeline) Moments() []Moment { return t.moments }
