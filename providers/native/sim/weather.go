package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

// Distribution is a distribution of the latency of calls.
type Distribution struct {
	kind string
	a, b time.Duration
}

// ParseDistribution reads "50ms", "uniform 10ms 90ms", "normal 50ms 10ms" (mean and deviation) or "exponential 50ms" (mean).
func ParseDistribution(text string) (Distribution, error) {
	words := strings.Fields(text)
	if len(words) == 1 {
		words = append([]string{"constant"}, words...)
	}
	wanted := map[string]int{"constant": 1, "uniform": 2, "normal": 2, "exponential": 1}
	if len(words) == 0 || wanted[words[0]] != len(words)-1 {
		return Distribution{}, fmt.Errorf("%q is not a latency; write 50ms, uniform 10ms 90ms, normal 50ms 10ms or exponential 50ms", text)
	}
	d := Distribution{kind: words[0]}
	for i, to := range []*time.Duration{&d.a, &d.b}[:len(words)-1] {
		v, err := time.ParseDuration(words[i+1])
		if err != nil || v < 0 {
			return d, fmt.Errorf("latency %q: %q is not a duration such as 50ms", text, words[i+1])
		}
		*to = v
	}
	return d, nil
}

// Draw returns a duration, which is never negative.
func (d Distribution) Draw(r *rand.Rand) time.Duration {
	switch d.kind {
	case "uniform":
		return d.a + time.Duration(r.Float64()*float64(d.b-d.a))
	case "normal":
		return max(0, d.a+time.Duration(r.NormFloat64()*float64(d.b)))
	case "exponential":
		return time.Duration(r.ExpFloat64() * float64(d.a))
	}
	return d.a
}

// weather defines the effects of the configuration on calls.
type weather struct {
	seed     string
	latency  map[string]Distribution // method or "*" -> how long
	failures map[string]float64      // method or "*" -> share of calls
	drift    float64                 // share of resources that a read finds changed
	gate     *throttle
}

func readWeather(config native.Values) (*weather, error) {
	w := &weather{
		seed: config.Text("seed"), latency: map[string]Distribution{}, failures: map[string]float64{}, drift: config.Number("driftRate"),
	}
	for method, text := range config.TextMap("latency") {
		d, err := ParseDistribution(text)
		if err != nil {
			return nil, err
		}
		w.latency[method] = d
	}
	for method, v := range config.Value("failureRate").AsMap().All() {
		w.failures[method] = v.AsNumber()
	}
	if rate := config.Number("callsPerSecond"); rate > 0 {
		w.gate = &throttle{gap: time.Duration(float64(time.Second) / rate), refuses: config.Text("throttling") == "fail"}
	}
	return w, nil
}

func pick[T any](m map[string]T, method providers.Method) (T, bool) {
	if v, ok := m[string(method)]; ok {
		return v, true
	}
	v, ok := m["*"]
	return v, ok
}

// dice returns a random number generator for parts; equal parts always get the same numbers.
func (w *weather) dice(parts ...string) *rand.Rand {
	h := fnv.New128a()
	_, _ = h.Write([]byte(w.seed + "\x00" + strings.Join(parts, "\x00")))
	sum := h.Sum(nil)
	var a, b uint64
	for i := range 8 {
		a, b = a<<8|uint64(sum[i]), b<<8|uint64(sum[i+8])
	}
	return rand.New(rand.NewPCG(a, b))
}

// strike delays a call, and makes it fail if its random number is below the share of failures.
func (w *weather) strike(ctx context.Context, cloud *Cloud, m providers.Method, c native.Call) error {
	if w.gate != nil {
		if err := w.gate.pass(ctx); err != nil {
			return err
		}
	}
	if d, ok := pick(w.latency, m); ok {
		dice := w.dice("latency", string(m), string(c.URN))
		if w.seed == "random" {
			dice = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		}
		if err := await.For(ctx, d.Draw(dice)); err != nil {
			return err
		}
	}
	share, ok := pick(w.failures, m)
	if !ok || share <= 0 {
		return nil
	}
	n, err := cloud.attempt(string(m) + " " + string(c.URN))
	if err != nil {
		return err
	}
	if w.dice("failure", string(m), string(c.URN), strconv.Itoa(n)).Float64() < share {
		return fmt.Errorf("simulated failure of %s (attempt %d)", m, n)
	}
	return nil
}

// throttle lets one call through in each gap.
type throttle struct {
	gap     time.Duration
	refuses bool

	mu   sync.Mutex // guards next
	next time.Time
}

func (t *throttle) pass(ctx context.Context) error {
	t.mu.Lock()
	now := time.Now()
	pause := max(0, t.next.Sub(now))
	if pause > 0 && t.refuses {
		t.mu.Unlock()
		return fmt.Errorf("throttled: try again in %v", pause.Round(time.Millisecond))
	}
	t.next = now.Add(pause + t.gap)
	t.mu.Unlock()
	return await.For(ctx, pause)
}
