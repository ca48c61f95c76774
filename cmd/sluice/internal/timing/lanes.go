package timing

// lanes are tracks for spans that follow one another: each span takes the first free lane. Spans are reported a little after they begin
// and end, so a lane may be freed before an earlier span is reported.
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

// free frees a lane from a time on.
func (l *lanes) free(n int, end int64) { l.busy[n], l.ends[n] = false, end }
