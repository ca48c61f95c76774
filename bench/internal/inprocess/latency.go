package inprocess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// delays are the latencies of provider calls.
type delays struct {
	name string
	mean time.Duration        // 0 if the total depends on the slowest call, whose latency is unknown
	draw func() time.Duration // nil if calls return at once
	// perSecond is the number of calls that return in a second, 0 for no limit.
	perSecond float64
}

// Lognormal is the latency whose logarithm is distributed normally, like that of cloud services: its median is 20 ms, and one call of a
// hundred takes more than 200 ms.
const Lognormal = "lognormal"

// Throttled is the latency of a service that handles a thousand calls a second, in order.
const Throttled = "throttled"

const throttle = 1000 // calls a second

const (
	middle = 20 * time.Millisecond
	sigma  = 1.0
)

// delaysOf returns the latency with a name: [Lognormal], [Throttled], or a duration such as 2ms; "" and 0 are none.
func delaysOf(name string) (delays, error) {
	if name == Lognormal {
		random := rand.New(rand.NewPCG(1, 2)) // the same in each run of the command
		var mu sync.Mutex                     // guards random
		return delays{name: name, draw: func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(float64(middle) * math.Exp(sigma*random.NormFloat64()))
		}}, nil
	}
	if name == Throttled {
		turns := rate.NewLimiter(throttle, 1)
		return delays{name: name, perSecond: throttle, draw: func() time.Duration { return turns.Reserve().Delay() }}, nil
	}
	if name == "" || name == "0" {
		return delays{}, nil
	}
	d, err := time.ParseDuration(name)
	if err != nil || d < 0 {
		return delays{}, fmt.Errorf("the latency %q is neither a time, such as 2ms, nor %s or %s", name, Lognormal, Throttled)
	}
	if d == 0 {
		return delays{}, nil
	}
	return delays{name: d.String(), mean: d, draw: func() time.Duration { return d }}, nil
}

// CheckLatency returns an error for an unknown name of a latency.
func CheckLatency(name string) error {
	_, err := delaysOf(name)
	return err
}
