package plugin

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// keeper has the plugins that one run has closed and a later one may use, such as those of a preview for the update that follows (decision 0288). A
// plugin is configured once: a provider with another configuration gets another process. It is safe for many goroutines.
type keeper struct {
	mu     sync.Mutex // guards the fields below, and which plugins lasting providers have until they are configured
	idle   map[string][]*configured
	open   []*lasting // the providers that are not configured, but have a plugin that is
	closed bool
}

// configured is a plugin with its configuration.
type configured struct {
	plugin *client
	with   *providers.ConfigureRequest // nil if it has none
	calls  atomic.Int64                // those under way
	// spoiled is true if the plugin may still be at work for an abandoned call, or is not as it was after its configuration.
	spoiled atomic.Bool
}

// isUsable reports whether the plugin is as a new one with this configuration would be.
func (c *configured) isUsable() bool {
	return !c.spoiled.Load() && c.calls.Load() == 0 && !c.plugin.isOver() && c.plugin.remote.process != nil
}

// fits reports whether the plugin is usable and has this configuration.
func (c *configured) fits(req providers.ConfigureRequest) bool {
	return c.with != nil && c.isUsable() && c.with.URN == req.URN && c.with.ID == req.ID && c.with.Name == req.Name && c.with.Type == req.Type &&
		property.IdenticalMaps(c.with.Inputs, req.Inputs)
}

// take returns a plugin that was started for the same spec, or starts one.
func (k *keeper) take(h *Host, spec providers.Spec, start func() (*client, error)) (*lasting, error) {
	l := &lasting{host: h, spec: spec, key: startKey(spec)}
	has, unusable := k.reserve(l)
	for _, c := range unusable {
		_ = c.plugin.Close() // an error of an ending plugin changes nothing
	}
	if has {
		return l, nil
	}
	plugin, err := start()
	if err != nil {
		return nil, err
	}
	l.has.Store(&configured{plugin: plugin})
	return l, nil
}

// reserve gives l an idle plugin. It reports whether there is one, and returns those that are not usable, which nobody has any more.
func (k *keeper) reserve(l *lasting) (has bool, unusable []*configured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.idle[l.key]) > 0 {
		c := k.idle[l.key][0]
		k.idle[l.key] = k.idle[l.key][1:]
		if !c.isUsable() {
			unusable = append(unusable, c)
			continue
		}
		l.has.Store(c)
		if c.with != nil {
			k.open = append(k.open, l)
		}
		return true, unusable
	}
	return false, unusable
}

// choose gives l a plugin with this configuration if there is one: an idle one, or that of another provider that is not configured, which gets the one
// of l. It reports whether l has such a plugin now.
func (k *keeper) choose(l *lasting, req providers.ConfigureRequest) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leave(l)
	has := l.has.Load()
	if has.fits(req) {
		return true
	}
	for i, c := range k.idle[l.key] {
		if c.fits(req) {
			k.idle[l.key][i] = has
			l.has.Store(c)
			return true
		}
	}
	for _, o := range k.open {
		if c := o.has.Load(); o.key == l.key && c.fits(req) {
			o.has.Store(has)
			l.has.Store(c)
			return true
		}
	}
	return false
}

// leave removes l from the providers that are not configured. k.mu must be held.
func (k *keeper) leave(l *lasting) {
	k.open = slices.DeleteFunc(k.open, func(o *lasting) bool { return o == l })
}

// put keeps a plugin for a later run if it is usable, and ends it otherwise.
func (k *keeper) put(key string, c *configured) error {
	k.mu.Lock()
	keeps := !k.closed && c.isUsable()
	if keeps {
		if k.idle == nil {
			k.idle = map[string][]*configured{}
		}
		k.idle[key] = append(k.idle[key], c)
	}
	k.mu.Unlock()
	if keeps {
		return nil
	}
	return c.plugin.Close()
}

// close ends the plugins that no provider has, and later those that providers give back.
func (k *keeper) close() error {
	k.mu.Lock()
	k.closed = true
	idle := k.idle
	k.idle = nil
	k.mu.Unlock()
	closing := pool.New().WithErrors()
	for _, all := range idle {
		for _, c := range all {
			closing.Go(c.plugin.Close)
		}
	}
	return closing.Wait()
}

// lasting is a provider whose plugin may outlast it: when it is closed in order, the plugin stays for a provider of a later run.
type lasting struct {
	host *Host
	spec providers.Spec
	key  string
	// has is its plugin. Once it is configured, it does not change.
	has    atomic.Pointer[configured]
	closed atomic.Bool
}

var _ providers.Provider = (*lasting)(nil)

var errClosed = errors.New("the provider has been closed")

// onPlugin makes a call.
func onPlugin[Q, R any](ctx context.Context, l *lasting, req Q, call func(*client, context.Context, Q) (R, error)) (R, error) {
	has := l.has.Load()
	has.calls.Add(1)
	defer has.calls.Add(-1)
	if l.closed.Load() {
		var none R
		return none, errClosed
	}
	defer func() {
		if ctx.Err() != nil {
			has.spoiled.Store(true) // the plugin may go on with an abandoned call
		}
	}()
	return call(has.plugin, ctx, req)
}

// Configure does nothing if there is a plugin that has this configuration.
func (l *lasting) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	if l.host.keeper.choose(l, req) {
		return nil
	}
	if other := l.has.Load(); other.with != nil { // a plugin is configured once
		fresh, err := l.host.load(ctx, l.spec)
		if err != nil {
			return err
		}
		l.has.Store(&configured{plugin: fresh})
		_ = l.host.keeper.put(l.key, other) // an error of an ending plugin changes nothing
	}
	_, err := onPlugin(ctx, l, req, func(c *client, ctx context.Context, req providers.ConfigureRequest) (struct{}, error) {
		return struct{}{}, c.Configure(ctx, req)
	})
	has := l.has.Load()
	if err != nil {
		has.spoiled.Store(true)
		return err
	}
	has.with = &req
	return nil
}

// Close leaves the plugin to the keeper.
func (l *lasting) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	k := &l.host.keeper
	k.mu.Lock()
	k.leave(l)
	k.mu.Unlock()
	return k.put(l.key, l.has.Load())
}

// Cancel cancels the plugin, which is not used any more afterwards.
func (l *lasting) Cancel(ctx context.Context) error {
	has := l.has.Load()
	has.spoiled.Store(true)
	return has.plugin.Cancel(ctx)
}

// Parameterize makes the plugin serve another package than that of the spec.
func (l *lasting) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	l.has.Load().spoiled.Store(true)
	return onPlugin(ctx, l, req, (*client).Parameterize)
}

// Package is that of the spec.
func (l *lasting) Package() string { return l.spec.Package }

func (l *lasting) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return onPlugin(ctx, l, req, (*client).CheckConfig)
}

func (l *lasting) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return onPlugin(ctx, l, req, (*client).DiffConfig)
}

func (l *lasting) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return onPlugin(ctx, l, req, (*client).Check)
}

func (l *lasting) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return onPlugin(ctx, l, req, (*client).Diff)
}

func (l *lasting) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	return onPlugin(ctx, l, req, (*client).Create)
}

func (l *lasting) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	return onPlugin(ctx, l, req, (*client).Read)
}

func (l *lasting) List(ctx context.Context, req providers.ListRequest) (providers.ListResponse, error) {
	return onPlugin(ctx, l, req, (*client).List)
}

func (l *lasting) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	return onPlugin(ctx, l, req, (*client).Update)
}

func (l *lasting) Delete(ctx context.Context, req providers.DeleteRequest) error {
	_, err := onPlugin(ctx, l, req, func(c *client, ctx context.Context, req providers.DeleteRequest) (struct{}, error) {
		return struct{}{}, c.Delete(ctx, req)
	})
	return err
}

func (l *lasting) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	return onPlugin(ctx, l, req, (*client).Invoke)
}

func (l *lasting) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	return onPlugin(ctx, l, req, (*client).Call)
}

func (l *lasting) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	return onPlugin(ctx, l, req, (*client).Construct)
}

func (l *lasting) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	return onPlugin(ctx, l, req, (*client).Schema)
}

func (l *lasting) Mapping(ctx context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	return onPlugin(ctx, l, req, (*client).Mapping)
}

func (l *lasting) Mappings(ctx context.Context, key string) ([]string, error) {
	return onPlugin(ctx, l, key, (*client).Mappings)
}
