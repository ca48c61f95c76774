package providertest

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// DefaultPackage is the default package of a cloud's providers.
const DefaultPackage = "simple"

// Options describe a [Cloud]. The zero value is a cloud in memory that answers at once and never fails.
type Options struct {
	// Table holds the existing resources; nil is a new table in memory.
	Table Table
	// Each call takes a time between MinLatency and MaxLatency that is drawn from Seed and the call.
	Seed                   uint64
	MinLatency, MaxLatency time.Duration
	// Latency, if it is set, returns the duration of a call instead.
	Latency func(Call) time.Duration
	// A call whose caller goes away during its latency ends without effect. With Late it goes on like the request of a
	// client that has died, and has its effect after another time of at most Late.
	Late time.Duration
	// Failures are the calls that fail.
	Failures []Failure
	// Cut, if it is set, is called before each call takes effect. If it returns an error, the call does nothing and
	// returns that error.
	Cut func(Call) error
	// Naming is the input that becomes the ID of a created resource. There cannot be two with one name. Without the input,
	// or if it is "", the cloud generates the ID.
	Naming string
}

// Cloud is a simulated cloud; see the package comment. Its methods, and those of its providers, may be called from many
// goroutines.
type Cloud struct {
	options Options
	table   Table
	log     *log

	mu    sync.Mutex // guards the fields below
	loads []providers.Spec
}

// NewCloud returns a cloud.
func NewCloud(o Options) *Cloud {
	c := &Cloud{options: o, table: o.Table, log: newLog()}
	if c.table == nil {
		c.table = NewMemory()
	}
	return c
}

// Host starts a new provider of the cloud for each Load, whatever the package. The loads are recorded.
func (c *Cloud) Host() providers.Host {
	return providers.HostFunc(func(_ context.Context, spec providers.Spec) (providers.Provider, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.loads = append(c.loads, spec)
		return c.Provider(spec.Package), nil
	})
}

// Loads returns the specs that Host was called with, in order.
func (c *Cloud) Loads() []providers.Spec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.loads)
}

// Provider returns a new provider of the cloud. It need not be configured.
func (c *Cloud) Provider(pkg string) providers.Provider {
	life, end := context.WithCancel(context.Background())
	return &provider{Unimplemented: providers.Unimplemented{PackageName: pkg}, cloud: c, life: life, end: end}
}

// Records returns the existing resources, in the order of IDs.
func (c *Cloud) Records() ([]Record, error) { return c.table.All() }

// Put makes a resource exist, or changes one, behind the engine's back. Its ID must be given.
func (c *Cloud) Put(r Record) error { return c.table.Write(r) }

// Remove deletes a resource behind the engine's back.
func (c *Cloud) Remove(id string) error { return c.table.Remove(id) }

// Calls returns the calls so far in the order in which they came in. That order depends on timing if the engine makes
// calls at the same time.
func (c *Cloud) Calls() []Call {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return slices.Clone(c.log.calls)
}

// Count returns how many calls of a method there were.
func (c *Cloud) Count(m providers.Method) int {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.counts[m]
}

// Peak returns the highest number of simultaneous calls of a method.
func (c *Cloud) Peak(m providers.Method) int {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.peak[m]
}

// newID is the ID of a resource that is about to be created.
func (o Options) newID(t Table, r Record) (string, error) {
	if v, ok := r.Inputs.Get(o.Naming); ok && o.Naming != "" && v.IsString() {
		id := v.AsString()
		_, taken, err := t.Read(id)
		if err == nil && taken {
			err = fmt.Errorf("the cloud has a resource %q already", id)
		}
		return id, err
	}
	made, err := t.Made(r.URN)
	return ID(r.URN, made+1), err
}

// latency draws the duration of a call from everything that identifies it.
func (o Options) latency(c Call) time.Duration {
	if o.Latency != nil {
		return o.Latency(c)
	}
	if o.MaxLatency <= o.MinLatency {
		return o.MinLatency
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(c.Method) + "\x00" + c.subject()))
	draw := rand.New(rand.NewPCG(o.Seed, h.Sum64()+uint64(c.Nth)))
	return o.MinLatency + time.Duration(draw.Int64N(int64(o.MaxLatency-o.MinLatency)+1))
}

// wait waits for the duration of a call. The error is that of a call that ends with its caller.
func (o Options) wait(ctx context.Context, c Call) error {
	err := await.For(ctx, o.latency(c))
	if err == nil || o.Late == 0 {
		return err
	}
	return await.For(context.WithoutCancel(ctx), rand.N(o.Late))
}

// idStem is the common beginning of the IDs of all resources with this URN.
func idStem(u urn.URN) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(u))
	return u.Name() + "-" + hex.EncodeToString(h.Sum(nil)) + "-"
}

// ID returns the ID of the nth resource, counted from 1, that was made for a URN.
func ID(u urn.URN, nth int) string { return idStem(u) + strconv.Itoa(nth) }
