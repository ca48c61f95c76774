package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// declaration is one resource of a random program. Inputs whose value is a name refer to that resource's arn.
type declaration struct {
	name      string
	component bool
	parent    string
	values    map[string]string // constants
	refs      map[string]string // property -> name of an earlier resource
	dependsOn []string
	retain    bool
	ignore    []string
	onChange  []string
	with      string // deletedWith
	alongside string // replaceWith
	dbr       *bool
	trigger   string
}

// randomProgram makes n declarations, each referring to earlier ones only.
func randomProgram(rng *rand.Rand, n int) []declaration {
	var out []declaration
	pick := func() string { return out[rng.IntN(len(out))].name }
	for i := range n {
		d := declaration{name: fmt.Sprintf("r%d", i), values: map[string]string{}, refs: map[string]string{}}
		d.component = rng.IntN(6) == 0
		for _, p := range []string{"value", "immutable", "dbr", "other"} {
			switch {
			case rng.IntN(2) == 0:
			case len(out) > 0 && rng.IntN(2) == 0:
				if r := pick(); !strings.HasPrefix(r, "c") {
					d.refs[p] = r
				}
			default:
				d.values[p] = fmt.Sprint(rng.IntN(3))
			}
		}
		if len(out) > 0 {
			chance := func(k int) bool { return rng.IntN(k) == 0 }
			if chance(4) {
				d.parent = pick()
			}
			if chance(4) {
				d.dependsOn = []string{pick()}
			}
			if chance(8) {
				d.with = pick()
			}
			if chance(8) {
				d.alongside = pick()
			}
		}
		if rng.IntN(8) == 0 {
			d.ignore = []string{"value"}
		}
		if rng.IntN(8) == 0 {
			d.onChange = []string{"other"}
		}
		if rng.IntN(8) == 0 {
			yes := rng.IntN(2) == 0
			d.dbr = &yes
		}
		if rng.IntN(8) == 0 {
			d.trigger = "1"
		}
		d.retain = rng.IntN(12) == 0
		out = append(out, d)
	}
	return out
}

// mutate makes the next version of a program: values change, resources go, new ones come.
//
// keepOrder makes a resource wait for everything that its recorded state depended on, even where the program no longer
// refers to it.
func mutate(rng *rand.Rand, in []declaration, keepOrder bool) []declaration {
	gone := map[string]bool{}
	before := map[string][]string{} // what a resource has to wait for, directly
	var out []declaration
	for _, d := range in {
		var waits []string
		for _, dep := range d.dependencies() {
			if gone[dep] {
				waits = append(waits, before[dep]...)
			} else {
				waits = append(waits, dep)
			}
		}
		before[d.name] = waits
		if rng.IntN(8) == 0 {
			gone[d.name] = true
			continue
		}
		c := d
		if keepOrder {
			c.dependsOn = waits
		}
		c.values, c.refs = map[string]string{}, map[string]string{}
		for _, k := range slices.Sorted(maps.Keys(d.values)) {
			v := d.values[k]
			if rng.IntN(3) == 0 {
				v += "x"
			}
			c.values[k] = v
		}
		for _, k := range slices.Sorted(maps.Keys(d.refs)) {
			v := d.refs[k]
			if !gone[v] && rng.IntN(6) != 0 {
				c.refs[k] = v
			}
		}
		for _, f := range []*string{&c.parent, &c.with, &c.alongside} {
			if gone[*f] {
				*f = ""
			}
		}
		if !keepOrder && len(c.dependsOn) > 0 && gone[c.dependsOn[0]] {
			c.dependsOn = nil
		}
		if d.trigger != "" && rng.IntN(2) == 0 {
			c.trigger += "2"
		}
		out = append(out, c)
	}
	for i, d := range randomProgram(rng, rng.IntN(3)) {
		d.name, d.refs, d.parent, d.dependsOn, d.with, d.alongside = fmt.Sprintf("n%d", i), nil, "", nil, "", ""
		out = append(out, d)
	}
	return out
}

// dependencies lists what d is registered after, its parent left out.
func (d declaration) dependencies() []string {
	out := slices.Clone(d.dependsOn)
	for _, p := range slices.Sorted(maps.Keys(d.refs)) {
		out = append(out, d.refs[p])
	}
	for _, n := range []string{d.with, d.alongside} {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// manner is how a program registers its resources.
type manner int

const (
	// serial programs register one resource after the other.
	serial manner = iota
	// ordered programs do not wait for answers that they do not need, but the order in which registrations arrive is
	// always the same.
	ordered
	// eager programs register each resource as soon as what it refers to has been answered, as SDKs do: which of two
	// unrelated registrations arrives first depends on timing. What such a program gets is still the same, except where
	// the order of arrival is what decides: when it drops a recorded dependency, and when two delete-before-replaces
	// take the same dependent with them (decision 0002). Eager programs here do neither.
	eager
)

// tame takes from an eager program what would make its order of arrival count.
func tame(decls []declaration) {
	for _, d := range decls {
		delete(d.values, "dbr")
		delete(d.refs, "dbr")
	}
	for i := range decls {
		decls[i].dbr = nil
	}
}

// run registers the declarations in the given manner.
func run(ctx context.Context, m stages.Monitor, decls []declaration, how manner) error {
	replies := map[string]*pipeline.Promise[*stages.RegisterReply]{}
	for _, d := range decls {
		replies[d.name] = pipeline.NewPromise[*stages.RegisterReply]()
	}
	errNotMade := errors.New("not made")
	var wg conc.WaitGroup
	for _, d := range decls {
		register := func() {
			req, err := request(ctx, d, replies)
			if err != nil {
				replies[d.name].Fail(err)
				return
			}
			r, err := m.Register(ctx, req)
			if err == nil && r.Result != stages.Success {
				err = errNotMade
			}
			if err != nil {
				replies[d.name].Fail(err)
				return
			}
			if d.component {
				_ = m.RegisterOutputs(ctx, r.URN, property.NewMap(map[string]property.Value{"of": property.String(d.name)}))
			}
			replies[d.name].Resolve(r)
		}
		switch how {
		case serial:
			register()
		case eager:
			wg.Go(register)
		case ordered:
			// What the resource refers to comes first, then the registration; the clock of the bubble moves on only when
			// it has arrived.
			_, _ = request(ctx, d, replies)
			wg.Go(register)
			time.Sleep(time.Nanosecond)
		}
	}
	wg.Wait()
	return nil
}

func request(ctx context.Context, d declaration, replies map[string]*pipeline.Promise[*stages.RegisterReply]) (*stages.RegisterRequest, error) {
	req := &stages.RegisterRequest{
		Type: "test:index:Thing", Name: d.name, Custom: !d.component, SupportsResultReporting: true, AliasSpecs: true,
		PropertyDependencies: map[string][]urn.URN{}, IgnoreChanges: d.ignore, ReplaceOnChanges: d.onChange, DeleteBeforeReplace: d.dbr,
	}
	if d.component {
		req.Type = "test:index:Group"
	}
	inputs := map[string]property.Value{}
	urnOf := func(name string) (urn.URN, error) {
		if name == "" {
			return "", nil
		}
		r, err := replies[name].Wait(ctx)
		if err != nil {
			return "", err
		}
		return r.URN, nil
	}
	for k, v := range d.values {
		inputs[k] = property.String(v)
		req.PropertyDependencies[k] = nil
	}
	for k, name := range d.refs {
		r, err := replies[name].Wait(ctx)
		if err != nil {
			return nil, err
		}
		v, ok := r.Outputs.Get("arn")
		if !ok {
			v = property.Computed()
		}
		inputs[k] = v
		req.PropertyDependencies[k] = []urn.URN{r.URN}
		req.Dependencies = append(req.Dependencies, r.URN)
	}
	for _, name := range d.dependsOn {
		u, err := urnOf(name)
		if err != nil {
			return nil, err
		}
		req.Dependencies = append(req.Dependencies, u)
	}
	var err error
	if req.Parent, err = urnOf(d.parent); err != nil {
		return nil, err
	}
	if req.DeletedWith, err = urnOf(d.with); err != nil {
		return nil, err
	}
	if d.alongside != "" {
		u, err := urnOf(d.alongside)
		if err != nil {
			return nil, err
		}
		req.ReplaceWith = []urn.URN{u}
	}
	if d.trigger != "" {
		req.ReplacementTrigger = property.String(d.trigger)
	}
	if d.retain {
		yes := true
		req.RetainOnDelete = &yes
	}
	req.Inputs = property.NewMap(inputs)
	return req, nil
}

// warmThenRun has the default provider made before anything else, so that no two resources wait for it together.
func warmThenRun(ctx context.Context, m stages.Monitor, decls []declaration, how manner) error {
	if _, err := m.Register(ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: "first", Custom: true, SupportsResultReporting: true}); err != nil {
		return err
	}
	return run(ctx, m, decls, how)
}

// outcome is everything about a case that must not depend on timing.
type outcome struct {
	plans  []string
	states []string
	errs   []string
}

func (o *outcome) add(t *testing.T, plan *sluice.Result, err error, st *sluice.MemoryState) {
	var b strings.Builder
	for _, s := range plan.Steps {
		fmt.Fprintf(&b, "%s %s keys=%v diffs=%v %s\n", s.Op, s.URN, s.Keys, s.Diffs, s.Reason)
	}
	if plan.Plan != nil {
		text, err := sluice.EncodePlan(t.Context(), plan.Plan, nil, false)
		require.NoError(t, err)
		b.Write(text)
	}
	o.plans = append(o.plans, b.String())
	var failed *sluice.FailedError
	if errors.As(err, &failed) {
		var all *multierror.Error
		require.ErrorAs(t, failed.Err, &all)
		for _, e := range all.Errors {
			o.errs = append(o.errs, e.Error())
		}
	} else {
		require.NoError(t, err)
	}
	if s := st.Snapshot(); s != nil {
		require.NoError(t, state.Verify(s))
		text, err := state.NewEncoder(state.EncoderOptions{}).Checkpoint(t.Context(), "organization/p/dev", s)
		require.NoError(t, err)
		o.states = append(o.states, string(text))
	}
}

// simulate runs one case: create the first version, preview and apply the second, destroy.
func simulate(t *testing.T, seed, timing uint64, workers int, failing bool) outcome {
	rng := rand.New(rand.NewPCG(seed, 1))
	first := randomProgram(rng, 3+rng.IntN(14))
	how := manner(seed % 3)
	second := mutate(rng, first, how == eager)
	if how == eager {
		tame(first)
		tame(second)
	}
	var failures []providertest.Failure
	if failing {
		for range 2 {
			failures = append(failures, providertest.Failure{
				Method: []providers.Method{providers.MethodCreate, providers.MethodUpdate, providers.MethodDelete}[rng.IntN(3)],
				Name:   fmt.Sprintf("r%d", rng.IntN(len(first))), Update: true,
			})
		}
	}
	cloud := providertest.NewCloud(providertest.Options{Seed: timing, MaxLatency: time.Second, Failures: failures})
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }
	st := &sluice.MemoryState{Now: now}
	decls := first
	o := sluice.Options{
		Stack: "dev", Project: "p", Providers: cloud.Host(), State: st, Parallel: workers, ContinueOnError: true, Now: now, Entropy: []byte{byte(seed)},
		Program: source.Func(func(ctx context.Context, m stages.Monitor) error { return warmThenRun(ctx, m, decls, how) }),
	}
	var out outcome
	res, err := sluice.Update(t.Context(), o)
	out.add(t, res, err, st)
	decls = second
	o.MakePlan = true
	res, err = sluice.Preview(t.Context(), o)
	out.add(t, res, err, st)
	// A program that has not changed can always do what was planned.
	o.Plan, o.MakePlan = res.Plan, false
	res, err = sluice.Update(t.Context(), o)
	out.add(t, res, err, st)
	var violation *sluice.PlanViolation
	if !failing { // what a program does not declare because of a failure must not be deleted
		require.False(t, errors.As(err, &violation), "%v", err)
	}
	res, err = sluice.Destroy(t.Context(), o)
	out.add(t, res, err, st)
	return out
}

// The main property of the engine: for one program, one state and one table of provider replies, the plan, the final
// state and the errors do not depend on how long anything takes or on how many workers there are.
func TestOutcomeDoesNotDependOnTiming(t *testing.T) {
	cases := 300
	if testing.Short() {
		cases = 30
	}
	for seed := range uint64(cases) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			var want *outcome
			for timing, workers := range []int{1, 2, 64, 64, 2} {
				synctest.Test(t, func(t *testing.T) {
					got := simulate(t, seed, uint64(timing), workers, seed%4 == 0)
					if want == nil {
						want = &got
						return
					}
					require.Equal(t, strings.Join(want.plans, "\n"), strings.Join(got.plans, "\n"))
					require.Equal(t, strings.Join(want.errs, "\n"), strings.Join(got.errs, "\n"))
					require.Equal(t, strings.Join(want.states, "\n"), strings.Join(got.states, "\n"))
				})
			}
		})
	}
}
