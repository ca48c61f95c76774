package timing

// lanes are tracks on which spans are drawn one after the other: each takes the first that is free.
type lanes struct {
	busy []bool
}

// take returns the number of a free lane.
func (l *lanes) take() int {
	for i, busy := range l.busy {
		if !busy {
			l.busy[i] = true
			return i
		}
	}
	l.busy = append(l.busy, true)
	return len(l.busy) - 1
}

func (l *lanes) free(n int) { l.busy[n] = false }
