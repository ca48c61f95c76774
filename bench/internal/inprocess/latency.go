package inprocess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// delays says how long provider calls take. Mean is 0 if they answer at once.
type delays struct {
	name string
	mean time.Duration
	draw func() time.Duration // nil if there is none
}

// Lognormal is the latency whose logarithm is distributed normally, as those of cloud services are: 20 ms in the middle, and one call of a
// hundred takes more than 200 ms.
const Lognormal = "lognormal"

const (
	middle = 20 * time.Millisecond
	sigma  = 1.0
)

// delaysOf returns the latency with a name: [Lognormal], or a time such as 2ms; "" and 0 are none.
func delaysOf(name string) (delays, error) {
	if name == Lognormal {
		random := rand.New(rand.NewPCG(1, 2)) // the same in each run of the command
		var mu sync.Mutex                     // guards random
		return delays{name, time.Duration(float64(middle) * math.Exp(sigma*sigma/2)), func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(float64(middle) * math.Exp(sigma*random.NormFloat64()))
		}}, nil
	}
	if name == "" || name == "0" {
		return delays{}, nil
	}
	d, err := time.ParseDuration(name)
	if err != nil || d < 0 {
		return delays{}, fmt.Errorf("the latency %q is neither a time, such as 2ms, nor %s", name, Lognormal)
	}
	if d == 0 {
		return delays{}, nil
	}
	return delays{d.String(), d, func() time.Duration { return d }}, nil
}

// CheckLatency returns an error for a name that is no latency.
func CheckLatency(name string) error {
	_, err := delaysOf(name)
	return err
}
