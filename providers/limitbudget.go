package providers

import (
	"time"

	"golang.org/x/time/rate"
)

// budget is the capacity that the calls matching a rule share.
type budget struct {
	name     string
	most     int  // calls at once; 0 is any number
	adaptive bool // the provider's answers change allowed
	rate     *rate.Limiter

	allowed   int // calls at once at present; 0 is any number
	taken     int
	halved    uint64 // the turn in which allowed was last halved
	successes int    // since allowed last changed
	used      bool   // all of it was used since it last changed
}

func (b *budget) isFull() bool { return b.allowed > 0 && b.taken >= b.allowed }

// untilRefill returns how long no call may begin because of the rate.
func (b *budget) untilRefill(now time.Time) time.Duration {
	if b.rate == nil {
		return 0
	}
	missing := 1 - b.rate.TokensAt(now)
	const (
		rounding = 1e-6 // of a call
		longest  = time.Hour
	)
	if missing <= rounding {
		return 0
	}
	seconds := min(missing/float64(b.rate.Limit()), longest.Seconds()) // a longer time is computed again when it is over
	return max(time.Duration(seconds*float64(time.Second)), time.Microsecond)
}

func (b *budget) take(now time.Time) {
	b.taken++
	b.used = b.used || b.isFull()
	if b.rate != nil {
		b.rate.ReserveN(now, 1)
	}
}

// ending is the end of a call.
type ending struct {
	outcome     outcome
	began, ends uint64 // turns
}

// giveBack ends a call. Calls that had begun before the budget was halved may be refused for the same reason: they do not halve it again.
func (b *budget) giveBack(e ending) {
	taken := b.taken
	b.taken--
	if !b.adaptive {
		return
	}
	switch {
	case e.outcome == outcomeThrottled && e.began > b.halved:
		if b.allowed > 0 {
			taken = min(taken, b.allowed)
		}
		b.halved = e.ends
		b.allow(max(taken/2, 1))
	case e.outcome == outcomeSuccess && b.allowed != b.most:
		if b.successes++; b.successes >= b.allowed && b.used {
			b.allow(b.allowed + 1)
		}
	}
}

// allow changes how many calls are allowed at once.
func (b *budget) allow(n int) { b.allowed, b.successes, b.used = n, 0, false }
