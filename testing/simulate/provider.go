package simulate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Names of properties with a meaning for the guard, beyond those of providertest:
//
//	vague        the provider does not report the effect of a change: the engine compares
//	unavailable  while it changes, the provider cannot compare
//	refreshed    the resource is to be read before every update
//	shown        the provider shows a view of the resource, see show
//	auto         the provider generates a name for the resource, which is the ID of its object
//	name         that name
const (
	vagueName       = "vague"
	unavailableName = "unavailable"
	refreshedName   = "refreshed"
	shownName       = "shown"
	autoName        = "auto"
	nameName        = "name"
)

// cloudOptions returns the options of the cloud of one attempt.
func cloudOptions(table providertest.Table, op Operation, s Schedule) providertest.Options {
	o := providertest.Options{Table: table, Seed: s.Seed, MaxLatency: time.Duration(s.Milliseconds) * time.Millisecond, Naming: nameName}
	for _, f := range op.Failures {
		if f.isLate() {
			continue
		}
		x := providertest.Failure{Method: providers.Method(f.Method), Name: f.Name, Nth: f.nth(), Update: true, Applied: f.Applied}
		if f.Died {
			x.Err = &providers.UncertainError{Err: fmt.Errorf("the plugin died during %s of %s", f.Method, f.Name), Lost: true}
		}
		o.Failures = append(o.Failures, x)
	}
	return o
}

// host returns a host that starts guarded providers.
func (a *attempt) host() providers.Host {
	base := a.cloud.Host()
	return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		p, err := base.Load(ctx, spec)
		return &guard{Provider: p, attempt: a}, err
	})
}

// guard checks the calls of a provider, and adds behaviour that the simulated cloud does not have.
type guard struct {
	providers.Provider
	attempt *attempt
}

// call is one call that changes an object.
type call struct {
	method     providers.Method
	urn        urn.URN
	id         string
	begun, end int // by the clock of the attempt
	// late is true for a call that began when the program had ended.
	late bool
	err  error
}

// readCall is one read of an object that has ended.
type readCall struct {
	urn urn.URN
	id  string
	end int // by the clock of the attempt
}

// noteRead records a read that has ended.
func (a *attempt) noteRead(u urn.URN, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads = append(a.reads, readCall{u, id, a.tick()})
}

// begin records a call. It reports a fault if the call is not in the recorded state, or overlaps another one.
func (a *attempt) begin(m providers.Method, u urn.URN, id string, as state.PendingType) (end func(error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &call{method: m, urn: u, id: id, begun: a.tick(), late: a.isLate()}
	if m == providers.MethodCreate && a.op.Pending == "" && a.before.isInDoubt(u) {
		a.fault("create of %s is repeated, and nobody knows what the one before has made", u)
	}
	if !a.journal.isOpen(u, id, as) {
		a.fault("%s of %s %s is not recorded as begun", m, u, id)
	}
	running := 1
	for _, other := range a.calls {
		if other.end == 0 {
			running++
		}
		if other.urn == u && other.end == 0 && (other.id == id || !a.buries(c) && !a.buries(other)) {
			a.fault("%s of %s %s overlaps %s of %s", m, u, id, other.method, other.id)
		}
	}
	if running > a.workers {
		a.fault("%s of %s %s begins as number %d of the calls under way, with %d workers", m, u, id, running, a.workers)
	}
	if m != providers.MethodDelete && a.judges != nil && a.judges.forbids(u) {
		a.fault("%s of %s, which violates a mandatory policy", m, u)
	}
	if m != providers.MethodDelete && a.slots.refuses(u) {
		a.fault("%s of %s, which a stage has refused", m, u)
	}
	if m == providers.MethodDelete && !a.slots.mayDelete(u, id) {
		a.fault("%s of %s %s, which has not passed the stages of deletes", m, u, id)
	}
	a.calls = append(a.calls, c)
	return func(err error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		c.end, c.err = a.tick(), err
	}
}

// mustBeKnown reports a fault if a call that changes something has an unknown among its inputs.
func (a *attempt) mustBeKnown(what string, u urn.URN, inputs property.Map) {
	if inputs.IsKnown() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault("%s %s gets an unknown", what, u)
}

// buries reports whether a call deletes an old copy whose replacement an earlier operation created. That may happen at any
// time. In a delete-before-replace the old object is deleted before the new one is created.
func (a *attempt) buries(c *call) bool {
	return c.method == providers.MethodDelete && slices.ContainsFunc(a.before.resources(), func(r *state.Resource) bool {
		return r.URN == c.urn && r.ID == c.id && r.Delete
	})
}

// show publishes the effect of a call on the view of a resource. inputs are nil for a delete, which only some resources
// report.
func show(ctx context.Context, s providers.Status, name string, olds []providers.View, inputs *property.Map) error {
	step := providers.ViewStep{}
	if len(olds) > 0 {
		step.Old = &olds[0]
	}
	if inputs != nil && has(*inputs, shownName) {
		step.New = &providers.View{Type: "test:index:View", Name: name + "-view", Inputs: *inputs, Outputs: *inputs}
	}
	switch {
	case step.Old == nil && step.New == nil, inputs == nil && len(name)%2 == 0:
		return nil
	case step.Old == nil:
		step.Op = providers.ViewCreate
	case step.New == nil:
		step.Op = providers.ViewDelete
	default:
		step.Op = providers.ViewUpdate
	}
	return s.Publish(ctx, step)
}

// Check generates a name if one is needed. A resource keeps its name.
func (g *guard) Check(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
	res, err := g.Provider.Check(ctx, r)
	if err != nil || !has(res.Inputs, autoName) {
		return res, err
	}
	name, named := r.Olds.Get(nameName)
	if !named {
		sum := sha256.Sum256(append([]byte(r.URN), r.RandomSeed...))
		name = property.String(fmt.Sprintf("%s-0%x", r.Name, sum[:4]))
	}
	res.Inputs = res.Inputs.With(nameName, name)
	return res, nil
}

func (g *guard) Create(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
	if err := show(ctx, r.Status, r.Name, nil, &r.Properties); err != nil {
		return providers.CreateResponse{}, err
	}
	if r.Preview {
		return g.Provider.Create(ctx, r)
	}
	g.attempt.mustBeKnown("a create of", r.URN, r.Properties)
	g.attempt.mustBeRemedied("a create of", r.URN, r.Properties)
	g.attempt.mustBeStaged("a create of", r.URN, r.Properties)
	end := g.attempt.begin(providers.MethodCreate, r.URN, "", state.Creating)
	res, err := g.Provider.Create(ctx, r)
	res.RefreshBeforeUpdate = has(r.Properties, refreshedName)
	g.attempt.postpone(err, effect{Method: providers.MethodCreate, URN: r.URN, Inputs: r.Properties})
	end(err)
	return res, err
}

func (g *guard) Update(ctx context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
	if err := show(ctx, r.Status, r.Name, r.OldViews, &r.NewInputs); err != nil {
		return providers.UpdateResponse{}, err
	}
	if r.Preview {
		return g.Provider.Update(ctx, r)
	}
	g.attempt.mustBeKnown("an update of", r.URN, r.NewInputs)
	g.attempt.mustBeRemedied("an update of", r.URN, r.NewInputs)
	g.attempt.mustBeStaged("an update of", r.URN, r.NewInputs)
	end := g.attempt.begin(providers.MethodUpdate, r.URN, r.ID, state.Updating)
	res, err := g.Provider.Update(ctx, r)
	res.RefreshBeforeUpdate = has(r.NewInputs, refreshedName)
	g.attempt.postpone(err, effect{Method: providers.MethodUpdate, URN: r.URN, ID: r.ID, Inputs: r.NewInputs})
	end(err)
	return res, err
}

func (g *guard) Delete(ctx context.Context, r providers.DeleteRequest) error {
	end := g.attempt.begin(providers.MethodDelete, r.URN, r.ID, state.Deleting)
	err := errors.Join(show(ctx, r.Status, r.Name, r.OldViews, nil), g.Provider.Delete(ctx, r))
	g.attempt.postpone(err, effect{Method: providers.MethodDelete, URN: r.URN, ID: r.ID})
	end(err)
	return err
}

func (g *guard) Read(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
	res, err := g.Provider.Read(ctx, r)
	res.RefreshBeforeUpdate = has(res.Inputs, refreshedName)
	g.attempt.noteRead(r.URN, r.ID)
	return res, err
}

func (g *guard) Diff(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
	res, err := g.Provider.Diff(ctx, r)
	if err != nil {
		return res, err
	}
	for _, k := range res.ChangedKeys {
		switch k {
		case vagueName:
			return providers.DiffResponse{ReplaceKeys: res.ReplaceKeys, DeleteBeforeReplace: res.DeleteBeforeReplace}, nil
		case unavailableName:
			return providers.DiffResponse{}, &providers.DiffUnavailableError{Reason: "the cloud cannot compare " + r.Name}
		}
	}
	return res, nil
}

func has(m property.Map, name string) bool {
	_, ok := m.Get(name)
	return ok
}

// died reports whether the outcome of a call is uncertain.
func died(err error) bool {
	var uncertain *providers.UncertainError
	return errors.As(err, &uncertain) && uncertain.Lost
}
