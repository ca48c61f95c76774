package results

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies is the distribution of how long resources waited for their answer, over all runs of a contender. It keeps three significant digits of
// each value, from a microsecond to an hour. In a report it is a text that other programs for HdrHistogram read. The zero Latencies is empty and
// can be used; it is not safe for concurrent use.
type Latencies struct {
	counts *hdrhistogram.Histogram // in nanoseconds; nil until the first value
}

const (
	shortestWait = time.Microsecond
	longestWait  = time.Hour
	digits       = 3
)

// Record adds a value. One that is out of bounds counts as the bound.
func (l *Latencies) Record(d time.Duration) {
	if l.counts == nil {
		l.counts = hdrhistogram.New(int64(shortestWait), int64(longestWait), digits)
	}
	_ = l.counts.RecordValue(int64(min(max(d, shortestWait), longestWait))) // it is within the bounds
}

// Add adds the values of another distribution.
func (l *Latencies) Add(other *Latencies) {
	if other.Count() == 0 {
		return
	}
	if l.counts == nil {
		l.counts = hdrhistogram.New(int64(shortestWait), int64(longestWait), digits)
	}
	l.counts.Merge(other.counts)
}

// Count returns the number of values. A nil distribution has none.
func (l *Latencies) Count() int64 {
	if l == nil || l.counts == nil {
		return 0
	}
	return l.counts.TotalCount()
}

// Quantile returns the value below which a share of the values, from 0 to 1, is; 0 without values.
func (l *Latencies) Quantile(share float64) time.Duration {
	if l.Count() == 0 {
		return 0
	}
	return time.Duration(l.counts.ValueAtPercentile(100 * share))
}

// Max returns the largest value.
func (l *Latencies) Max() time.Duration {
	if l.Count() == 0 {
		return 0
	}
	return time.Duration(l.counts.Max())
}

// Bar is the number of values in an interval. It includes To.
type Bar struct {
	From, To time.Duration
	Count    int64
}

// Bars returns the distribution in intervals, each twice as wide as the one before. The first and the last have values.
func (l *Latencies) Bars() []Bar {
	if l.Count() == 0 {
		return nil
	}
	var bars []Bar
	from, to := shortestWait/2, shortestWait
	for _, b := range l.counts.Distribution() {
		if b.Count == 0 {
			continue
		}
		for time.Duration(b.From) > to {
			if len(bars) > 0 {
				bars = append(bars, Bar{From: to, To: 2 * to})
			}
			from, to = to, 2*to
		}
		if len(bars) == 0 {
			bars = append(bars, Bar{From: from, To: to})
		}
		bars[len(bars)-1].Count += b.Count
	}
	return bars
}

// MarshalJSON implements [json.Marshaler].
func (l *Latencies) MarshalJSON() ([]byte, error) {
	if l.Count() == 0 {
		return []byte(`""`), nil
	}
	text, err := l.counts.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *Latencies) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	l.counts = nil
	if text == "" {
		return nil
	}
	counts, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return fmt.Errorf("a histogram of latencies: %w", err)
	}
	l.counts = counts
	return nil
}
