package rules

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// kit is a stack named dev of a project named p, in a simulated cloud. A test runs operations with up, preview, destroy,
// fails and try, and checks the result of each ([ran]) and the recorded states of the stack.
type kit struct {
	t     *testing.T
	cloud *providertest.Cloud
	state *sluice.MemoryState
	// options are those of every operation; a test changes the ones that it needs.
	options sluice.Options
	// fake changes a provider before it is used; nil leaves the cloud's.
	fake func(*providertest.Fake)

	mu       sync.Mutex // guards requests
	requests []inquiry
	seen     int // calls of the cloud in earlier operations
	ran      int // number of operations
	foreign  []string
}

// newKit makes a stack without resources, in a cloud with these failures.
func newKit(t *testing.T, failures ...providertest.Failure) *kit {
	return newKitWith(t, providertest.Options{Failures: failures})
}

// newKitWith makes a stack without resources, in a cloud with these options.
func newKitWith(t *testing.T, o providertest.Options) *kit {
	k := &kit{t: t, cloud: providertest.NewCloud(o), state: &sluice.MemoryState{}}
	k.options = sluice.Options{Stack: "dev", Project: "p", State: k.state, Providers: k.host()}
	return k
}

// operation is [sluice.Preview], [sluice.Update] or another one of that form.
type operation func(context.Context, sluice.Options) (*sluice.Result, error)

// try runs an operation. Whatever its result, the state must be valid and name only objects that may exist.
func (k *kit) try(op operation, p source.Func) *ran {
	k.t.Helper()
	out := &ran{t: k.t}
	o := k.options
	o.Program = p
	k.ran++
	o.Entropy = []byte{byte(k.ran)}
	o.Observe = func(e stages.Event) {
		out.events = append(out.events, e)
		if k.options.Observe != nil {
			k.options.Observe(e)
		}
	}
	k.requests = nil
	out.Result, out.err = op(k.t.Context(), o)
	calls := k.cloud.Calls()
	out.calls, k.seen = calls[k.seen:], len(calls)
	out.requests = k.requests
	out.snapshot = k.state.Snapshot()
	require.NoError(k.t, state.Verify(out.snapshot))
	if len(out.events) > 0 {
		require.Equal(k.t, stages.Ended{}, out.events[len(out.events)-1])
	}
	return out
}

// up runs an update that succeeds and leaves nothing pending.
func (k *kit) up(p source.Func) *ran {
	k.t.Helper()
	out := k.try(sluice.Update, p)
	require.NoError(k.t, out.err)
	k.requireTruth()
	return out
}

// preview runs a preview that succeeds.
func (k *kit) preview(p source.Func) *ran {
	k.t.Helper()
	out := k.try(sluice.Preview, p)
	require.NoError(k.t, out.err)
	return out
}

// destroy runs a destroy that succeeds and leaves nothing pending.
func (k *kit) destroy() *ran {
	k.t.Helper()
	out := k.try(sluice.Destroy, nil)
	require.NoError(k.t, out.err)
	k.requireTruth()
	return out
}

// fails runs an update that fails, and returns it. Its error must contain the text.
func (k *kit) fails(p source.Func, text string) *ran {
	k.t.Helper()
	out := k.try(sluice.Update, p)
	out.requireFailure(text)
	return out
}

// requireTruth compares the recorded objects with those that exist.
func (k *kit) requireTruth() {
	k.t.Helper()
	s := k.state.Snapshot()
	require.Empty(k.t, s.Pending)
	var recorded, existing []string
	for _, r := range s.Resources {
		if r.Custom && !r.External && !r.PendingReplacement && !r.Type.IsProvider() && r.Type.Package() != "pulumi" {
			recorded = append(recorded, r.ID)
		}
	}
	records, err := k.cloud.Records()
	require.NoError(k.t, err)
	for _, r := range records {
		if !slices.Contains(k.foreign, r.ID) {
			existing = append(existing, r.ID)
		}
	}
	slices.Sort(recorded)
	require.Equal(k.t, recorded, existing)
}

// exists adds an object to the cloud that does not belong to the stack.
func (k *kit) exists(id string, inputs in) {
	k.t.Helper()
	require.NoError(k.t, k.cloud.Put(providertest.Record{ID: id, URN: urnOf(id), Inputs: values(inputs)}))
	k.foreign = append(k.foreign, id)
}

// all returns the recorded states of that name in their order.
func (k *kit) all(name string) []*state.Resource {
	var out []*state.Resource
	for _, r := range k.state.Snapshot().Resources {
		if r.URN.Name() == name {
			out = append(out, r)
		}
	}
	return out
}

// recorded returns the only recorded state of that name.
func (k *kit) recorded(name string) *state.Resource {
	k.t.Helper()
	all := k.all(name)
	require.Len(k.t, all, 1, name)
	return all[0]
}

// names returns the names of the recorded states, except default providers.
func (k *kit) names() []string {
	var out []string
	for _, r := range k.state.Snapshot().Resources {
		if !(r.Type.IsProvider() && strings.HasPrefix(r.URN.Name(), "default")) {
			name := r.URN.Name()
			if r.Delete {
				name += " (delete)"
			}
			if r.PendingReplacement {
				name += " (pending)"
			}
			out = append(out, name)
		}
	}
	return out
}

// change edits a recorded state.
func (k *kit) change(name string, f func(*state.Resource)) {
	k.t.Helper()
	old := k.recorded(name)
	s := *k.state.Snapshot()
	s.Resources = slices.Clone(s.Resources)
	changed := old.Clone()
	f(changed)
	s.Resources[slices.Index(s.Resources, old)] = changed
	require.NoError(k.t, state.Verify(&s))
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
}

// urnOf returns the URN of a thing without parent.
func urnOf(name string) urn.URN { return urn.New("dev", "p", "", "test:index:Thing", name) }

// idOf returns the ID of the nth thing without parent that was created under a name.
func idOf(name string, nth int) string { return providertest.ID(urnOf(name), nth) }

// clock is a clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// errRefused is the error of failing provider calls.
var errRefused = errors.New("refused")

// set compiles the patterns of --target and similar flags.
func set(t *testing.T, patterns ...string) *urn.PatternSet {
	t.Helper()
	s, err := urn.CompileSet(patterns...)
	require.NoError(t, err)
	return s
}

// together calls f for 0 to n-1 at once and returns the errors.
func together(n int, f func(i int) error) error {
	p := pool.New().WithErrors()
	for i := range n {
		p.Go(func() error { return f(i) })
	}
	return p.Wait()
}
