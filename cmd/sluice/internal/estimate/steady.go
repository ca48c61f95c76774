package estimate

import (
	"fmt"
	"math"
	"time"
)

// steady smooths estimates: it follows them slowly, and changes its rounded value only when that is clearly wrong.
type steady struct {
	end   time.Time // the smoothed end
	at    time.Time // when next was last called
	shown time.Duration
}

// slowness is how long it takes to follow most of a change, unless a tenth of the time left is longer.
const slowness = 5 * time.Second

// next returns the rounded time that is left, given the present estimate.
func (s *steady) next(now time.Time, left time.Duration) time.Duration {
	estimated := now.Add(left)
	if s.end.IsZero() {
		s.end = estimated
	}
	follow := 1 - math.Exp(-float64(max(now.Sub(s.at), 0))/float64(max(slowness, left/10)))
	s.end, s.at = s.end.Add(time.Duration(follow*float64(estimated.Sub(s.end)))), now
	left = max(s.end.Sub(now), 0)
	if step := stepAt(s.shown); s.shown == 0 || left < s.shown-step*3/4 || left > s.shown+step*3/4 {
		step = stepAt(left)
		s.shown = max((left + step/2).Truncate(step), time.Second)
	}
	return s.shown
}

// stepAt is the precision of the rounded value near a duration.
func stepAt(d time.Duration) time.Duration {
	switch {
	case d < 20*time.Second:
		return 5 * time.Second
	case d < 2*time.Minute:
		return 10 * time.Second
	case d < 20*time.Minute:
		return time.Minute
	case d < 2*time.Hour:
		return 5 * time.Minute
	}
	return time.Hour
}

// text formats the time that is left.
func text(left time.Duration) string {
	minutes := int(left.Round(time.Minute) / time.Minute)
	switch {
	case left < 10*time.Second:
		return "a few seconds left"
	case left < 2*time.Minute:
		return fmt.Sprintf("about %d s left", int(left/time.Second))
	case minutes < 60:
		return fmt.Sprintf("about %d min left", minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("about %d h left", minutes/60)
	}
	return fmt.Sprintf("about %d h %d min left", minutes/60, minutes%60)
}
