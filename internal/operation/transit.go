package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// transit is where the ephemeral values of one attempt pass: the requests of the program, the replies to it, and the calls of providers. It is safe for
// concurrent use.
type transit struct {
	ephemeral *Ephemeral

	mu        sync.RWMutex           // guards the rest
	reads     map[[2]string]bool     // the types and names of the resources that the program reads
	delivered map[string][]delivered // the texts that the program has got, by their first bytes, as many as the shortest has
	met       map[urn.Type]fate      // the types of the registrations
}

// fate is what has become of the ephemeral properties of a type, by their paths.
type fate struct {
	passed  map[string]bool // they had a value
	lacking map[string]bool // an object was made or changed and had none
}

// delivered is a text that the program has got, and where it comes from.
type delivered struct {
	text string
	urn  urn.URN
	path property.Path
}

func newTransit(e *Ephemeral) *transit {
	if e == nil {
		return &transit{} // nothing passes
	}
	return &transit{ephemeral: e, reads: map[[2]string]bool{}, delivered: map[string][]delivered{}, met: map[urn.Type]fate{}}
}

// note records which of the paths have a value in properties of a type. made is true for those of an object that was made or changed.
func (t *transit) note(of urn.Type, paths []property.Path, made bool, all ...property.Map) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, known := t.met[of]
	if !known {
		f = fate{map[string]bool{}, map[string]bool{}}
		t.met[of] = f
	}
	for _, p := range paths {
		has := slices.ContainsFunc(all, func(m property.Map) bool { v, has := m.Lookup(p); return has && !v.IsNull() })
		if has {
			f.passed[p.String()] = true
		} else if made {
			f.lacking[p.String()] = true
		}
	}
}

// unused returns messages about the entries that have named nothing: a misspelt name would leave a value in the state. It is called when the program has
// registered everything.
func (t *transit) unused() (messages []string) {
	if t.ephemeral == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.ephemeral.rules {
		var types, passed, lacking bool
		for of, f := range t.met {
			if r.matches(of) {
				types, passed, lacking = true, passed || f.passed[r.path.String()], lacking || f.lacking[r.path.String()]
			}
		}
		switch {
		case !types:
			messages = append(messages, fmt.Sprintf("sluice:ephemeral names %q, but the program has no resource of such a type", r.entry))
		case lacking && !passed:
			messages = append(messages, fmt.Sprintf("sluice:ephemeral names %q, but no resource of the type has such an input or output", r.entry))
		}
	}
	return messages
}

// shortest is the length of the shortest text whose way is followed. Shorter ones are parts of other texts by chance.
const shortest = 8

// check returns an error if properties that are recorded have an ephemeral value that the program has got.
func (t *transit) check(at string, paths []property.Path, m property.Map) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.delivered) == 0 {
		return nil
	}
	rest, _ := without(paths, m)
	for _, name := range rest.Names() {
		var found *delivered
		rest.At(name).ReplaceTexts(func(text string) (property.Value, bool) {
			if found == nil {
				found = t.leastIn(text)
			}
			return property.Value{}, false
		})
		if found != nil {
			return &stages.EphemeralError{At: at, Path: property.Path{property.Key(name)}, From: found.urn, FromPath: found.path}
		}
	}
	return nil
}

// leastIn returns the least of the texts that are parts of a text, nil if there is none. t.mu is held. Its cost grows only with texts that begin alike.
func (t *transit) leastIn(text string) (least *delivered) {
	for i := 0; i+shortest <= len(text); i++ {
		alike := t.delivered[text[i:i+shortest]]
		for k := range alike {
			if d := &alike[k]; strings.HasPrefix(text[i:], d.text) && (least == nil || d.text < least.text) {
				least = d
			}
		}
	}
	return least
}

// deliver notes the texts of a value that the program gets.
func (t *transit) deliver(u urn.URN, p property.Path, v property.Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v.StripSecretsAndOutputs().ReplaceTexts(func(text string) (property.Value, bool) {
		if len(text) < shortest {
			return property.Value{}, false
		}
		alike := t.delivered[text[:shortest]]
		if !slices.ContainsFunc(alike, func(d delivered) bool { return d.text == text }) {
			t.delivered[text[:shortest]] = append(alike, delivered{text, u, p})
		}
		return property.Value{}, false
	})
}

// complete returns the outputs for a reply. The state has no ephemeral ones: they are those of the inputs, or not available.
func (t *transit) complete(reply *stages.RegisterReply, paths []property.Path, inputs property.Map, dryRun bool) *stages.RegisterReply {
	outputs := reply.Outputs
	for _, p := range paths {
		v, has := outputs.Lookup(p)
		if !has || v.IsNull() {
			if v, has = inputs.Lookup(p); !has {
				v = absent(reply.URN, p, dryRun)
			}
		}
		v = property.MakeSecret(v)
		if with, set := outputs.Set(p, v); set {
			outputs = with
		}
		t.deliver(reply.URN, p, v)
	}
	completed := *reply
	completed.Outputs = outputs
	return &completed
}

// absent is an output that only the provider had. A preview does not know whether the update will make it again.
func absent(u urn.URN, p property.Path, dryRun bool) property.Value {
	if dryRun {
		return property.Computed()
	}
	return property.Unavailable(fmt.Sprintf("the property %q of %s is ephemeral (sluice:ephemeral), and only the update that makes it has it; "+
		"replace that resource to make it again", p, u))
}

// gone begins the text that stands for an ephemeral input whose value is not available. No call that changes something gets it.
const gone = "\x00sluice: "

// standIn returns inputs with stand-ins for ephemeral values that are not available: the resource may need them no more.
func standIn(paths []property.Path, inputs property.Map) property.Map {
	for _, p := range paths {
		if v, has := inputs.Lookup(p); has {
			if why, unavailable := v.WhyUnavailable(); unavailable {
				inputs, _ = inputs.Set(p, property.Secret(property.String(gone+why)))
			}
		}
	}
	return inputs
}

// needGone returns an error if inputs that a provider needs have a stand-in.
func needGone(paths []property.Path, inputs property.Map) error {
	for _, p := range paths {
		v, _ := inputs.Lookup(p)
		if v = v.StripSecretsAndOutputs(); v.IsString() {
			if why, is := strings.CutPrefix(v.AsString(), gone); is {
				return fmt.Errorf("the input %q is not available: %s", p, why)
			}
		}
	}
	return nil
}

// host returns a host whose providers get and return ephemeral values.
func (t *transit) host(h providers.Host) providers.Host {
	if t.ephemeral == nil {
		return h
	}
	return providers.HostFunc(func(ctx context.Context, s providers.Spec) (providers.Provider, error) {
		p, err := h.Load(ctx, s)
		if err != nil || p == nil { // the registry returns the error
			return nil, err
		}
		return providers.Intercept(p, t.call), nil
	})
}

// call makes a call of a provider.
func (t *transit) call(ctx context.Context, c *providers.Call) error {
	paths := t.ephemeral.of(c.URN.Type())
	if len(paths) == 0 {
		return c.Do(ctx)
	}
	switch q := c.Request.(type) {
	case *providers.DiffRequest:
		if c.Method == "Diff" {
			return diffWithout(ctx, c, paths, q)
		}
	case *providers.CreateRequest:
		if err := needGone(paths, q.Properties); err != nil {
			return err
		}
	case *providers.UpdateRequest:
		if err := needGone(paths, q.NewInputs); err != nil {
			return err
		}
	}
	err := c.Do(ctx)
	switch r := c.Response.(type) {
	case *providers.CheckResponse:
		r.Inputs = marked(paths, r.Inputs)
	case *providers.CreateResponse:
		r.Properties = marked(paths, r.Properties)
		if q, is := c.Request.(*providers.CreateRequest); is {
			t.note(q.Type, paths, err == nil && !q.Preview, q.Properties, r.Properties)
		}
	case *providers.UpdateResponse:
		r.Properties = marked(paths, r.Properties)
		if q, is := c.Request.(*providers.UpdateRequest); is {
			t.note(q.Type, paths, err == nil && !q.Preview, q.NewInputs, r.Properties)
		}
	case *providers.ReadResponse:
		if t.isRead(c.URN) {
			r.Properties = marked(paths, r.Properties)
		} else if q, is := c.Request.(*providers.ReadRequest); is && q.Known { // a refresh: what is not recorded has not changed
			r.Inputs, _ = without(paths, r.Inputs)
			r.Properties, _ = without(paths, r.Properties)
		}
	}
	var unhealthy *providers.InitError
	if errors.As(err, &unhealthy) {
		unhealthy.Inputs, unhealthy.Properties = marked(paths, unhealthy.Inputs), marked(paths, unhealthy.Properties)
	}
	return err
}

// diffWithout asks for the difference between what is recorded and new inputs. An ephemeral input counts as unchanged.
func diffWithout(ctx context.Context, c *providers.Call, paths []property.Path, q *providers.DiffRequest) error {
	for _, p := range paths {
		now, is := q.NewInputs.Lookup(p)
		for _, old := range []*property.Map{&q.OldInputs, &q.OldOutputs} {
			if is {
				if with, set := old.Set(p, property.MakeSecret(now)); set {
					*old = with
				}
			} else {
				*old, _ = old.Delete(p)
			}
		}
	}
	err := c.Do(ctx)
	if r, is := c.Response.(*providers.DiffResponse); is && err == nil && r.Changes == providers.DiffUnknown {
		if property.EqualIgnoringSecrets(q.OldInputs, q.NewInputs) { // otherwise the engine would compare with what is recorded
			r.Changes = providers.DiffNone
		}
	}
	return err
}

// isRead reports whether the program reads a resource that it does not manage.
func (t *transit) isRead(u urn.URN) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reads[[2]string{string(u.Type()), u.Name()}]
}

// monitor returns a monitor for a program that gets and gives ephemeral values. refuse makes the run fail, and returns the error for the program.
func (t *transit) monitor(inner stages.Monitor, dryRun bool, refuse func(error) error) stages.Monitor {
	if t.ephemeral == nil {
		return inner
	}
	return &transitMonitor{inner, t, dryRun, refuse}
}

type transitMonitor struct {
	stages.Monitor
	transit *transit
	dryRun  bool
	refuse  func(error) error
}

func (m *transitMonitor) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	if req == nil { // the inner monitor refuses it
		return m.Monitor.Register(ctx, req)
	}
	paths := m.transit.ephemeral.of(req.Type)
	if err := m.transit.check(fmt.Sprintf("%s (%s)", req.Name, req.Type), paths, req.Inputs); err != nil {
		return nil, m.refuse(err)
	}
	if len(paths) == 0 {
		return m.Monitor.Register(ctx, req)
	}
	m.transit.note(req.Type, paths, false, req.Inputs)
	with := *req
	with.Inputs = marked(paths, standIn(paths, req.Inputs))
	reply, err := m.Monitor.Register(ctx, &with)
	if err != nil || reply == nil || reply.Unknown || !req.Custom && !req.Remote { // other components have outputs only later
		return reply, err
	}
	return m.transit.complete(reply, paths, req.Inputs, m.dryRun), nil
}

func (m *transitMonitor) Read(ctx context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	if req == nil {
		return m.Monitor.Read(ctx, req)
	}
	paths := m.transit.ephemeral.of(req.Type)
	if err := m.transit.check(fmt.Sprintf("%s (%s)", req.Name, req.Type), paths, req.Properties); err != nil {
		return nil, m.refuse(err)
	}
	if len(paths) == 0 {
		return m.Monitor.Read(ctx, req)
	}
	m.transit.mu.Lock()
	m.transit.reads[[2]string{string(req.Type), req.Name}] = true
	m.transit.mu.Unlock()
	m.transit.note(req.Type, paths, false)
	reply, err := m.Monitor.Read(ctx, req)
	if err != nil || reply == nil || reply.Unknown {
		return reply, err
	}
	return m.transit.complete(reply, paths, req.Properties, m.dryRun), nil
}

func (m *transitMonitor) RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error {
	paths := m.transit.ephemeral.of(u.Type())
	if err := m.transit.check(string(u), paths, outputs); err != nil {
		return m.refuse(err)
	}
	if len(paths) > 0 {
		m.transit.note(u.Type(), paths, true, outputs)
	}
	return m.Monitor.RegisterOutputs(ctx, u, outputs)
}
