package timing

// lanes are tracks on which spans are drawn one after the other: each takes the first that is free. Spans are reported a little after they
// begin and end, so a lane may be given back before a span is reported that began earlier.
type lanes struct {
	busy []bool
	ends []int64 // of the last span on each lane, in nanoseconds
}

// take returns the number of a lane that is free from a time on.
func (l *lanes) take(start int64) int {
	for i, busy := range l.busy {
		if !busy && l.ends[i] <= start {
			l.busy[i] = true
			return i
		}
	}
	l.busy, l.ends = append(l.busy, true), append(l.ends, 0)
	return len(l.busy) - 1
}

// free gives a lane back from a time on.
func (l *lanes) free(n int, end int64) { l.busy[n], l.ends[n] = false, end }
