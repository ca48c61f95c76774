package plugin

import (
	"context"
	"errors"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
)

// starts are the plugins that a host has started. A plugin in source form takes seconds to start, and a program in YAML needs its schema at about
// the time at which its provider is loaded: one process serves both, whichever is first. It is safe for many goroutines.
type starts struct {
	mu     sync.Mutex // guards the fields below
	of     map[string]*startedPlugin
	closed bool
}

// startedPlugin is a plugin that was started, or is being started.
type startedPlugin struct {
	client *await.Promise[*client]
	owned  bool // by a provider, which closes it, or by the caller of take that waits for it
}

// isOver reports whether the plugin has been closed or has ended.
func (s *startedPlugin) isOver() bool {
	if !s.client.Decided() {
		return false
	}
	c, err := s.client.Wait(context.Background())
	return err != nil || c.isOver()
}

var errHostClosed = errors.New("the host of plugins is closed: no more plugins are started")

// startKey is the key of a process that serves spec, whatever is asked of it and whoever has verified its executable.
func startKey(spec providers.Spec) string {
	spec.OnlySchema, spec.Checksums = false, nil
	return spec.Key()
}

// borrow returns the plugin that serves spec for a request of its schema, and starts it if there is none. The caller does not close it.
func (s *starts) borrow(ctx context.Context, spec providers.Spec, load func() (*client, error)) (*client, error) {
	key := startKey(spec)
	for {
		s.mu.Lock()
		there, known := s.of[key]
		if known = known && !there.isOver(); !known {
			there = s.add(key, false)
		}
		s.mu.Unlock()
		if !known {
			return s.start(key, there, load)
		}
		c, err := there.client.Wait(ctx)
		if hasLeft := errors.Is(err, context.Canceled) && ctx.Err() == nil; !hasLeft {
			return c, err
		}
		// The caller that was starting it has left.
	}
}

// take returns the plugin that serves spec for a provider, which closes it. It is one that was started for its schema, or a new one.
func (s *starts) take(ctx context.Context, spec providers.Spec, load func() (*client, error)) (*client, error) {
	key := startKey(spec)
	s.mu.Lock()
	there, known := s.of[key]
	switch known = known && !there.isOver(); {
	case !known:
		there = s.add(key, true)
	case there.owned:
		s.mu.Unlock()
		return load() // each provider has a process of its own (protocol.md 1.13)
	}
	there.owned = true
	s.mu.Unlock()
	if !known {
		return s.start(key, there, load)
	}
	if c, err := there.client.Wait(ctx); err == nil && !c.isOver() {
		return c, nil
	}
	s.disown(key, there)
	return load() // the other start may have failed because its caller had left
}

// disown leaves a plugin to the next caller of take, or to endUnused. If the host has been closed, it ends the plugin once that has started.
func (s *starts) disown(key string, there *startedPlugin) {
	s.mu.Lock()
	there.owned = false
	ends := s.closed && there.client.Decided() // otherwise start ends it
	if ends && s.of[key] == there {
		delete(s.of, key)
	}
	s.mu.Unlock()
	if !ends {
		return
	}
	if c, err := there.client.Wait(context.Background()); err == nil {
		_ = c.Close() // an error of an ending plugin changes nothing
	}
}

// add adds a plugin that is being started. s.mu must be held.
func (s *starts) add(key string, owned bool) *startedPlugin {
	if s.of == nil {
		s.of = map[string]*startedPlugin{}
	}
	there := &startedPlugin{client: await.NewPromise[*client](), owned: owned}
	s.of[key] = there
	return there
}

// start starts a plugin that has been added.
func (s *starts) start(key string, there *startedPlugin, load func() (*client, error)) (*client, error) {
	defer there.client.Fail(await.ErrNoResult) // if load panics
	c, err := load()
	s.mu.Lock()
	if err == nil && s.closed && !there.owned {
		err = errors.Join(errHostClosed, c.Close())
	}
	if err != nil && s.of[key] == there {
		delete(s.of, key)
	}
	there.client.Decide(c, err)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// endUnused ends the plugins that no provider has taken. If last is true, borrow starts none from now on.
func (s *starts) endUnused(last bool) error {
	s.mu.Lock()
	s.closed = s.closed || last
	closing := pool.New().WithErrors()
	for key, there := range s.of {
		if there.owned || !there.client.Decided() {
			continue
		}
		delete(s.of, key)
		if c, err := there.client.Wait(context.Background()); err == nil {
			closing.Go(c.Close)
		}
	}
	s.mu.Unlock()
	return closing.Wait()
}

// borrowed is a plugin of which only the schema is needed, and whose process belongs to the provider with the same spec, or waits for it.
type borrowed struct {
	providers.Unimplemented
	host   *Host
	spec   providers.Spec
	plugin *client

	mu  sync.Mutex // guards own; held during calls of it
	own *client    // nil unless the schema is not that of the provider
}

// Parameterize starts another process: the provider must not change.
func (b *borrowed) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own == nil {
		c, err := b.host.load(ctx, b.spec)
		if err != nil {
			return providers.ParameterizeResponse{}, err
		}
		b.own = c
	}
	return b.own.Parameterize(ctx, req)
}

// Schema calls the plugin. If the provider is closed meanwhile, it starts another process.
func (b *borrowed) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own == nil {
		text, err := b.plugin.Schema(ctx, req)
		if err == nil || !b.plugin.isOver() {
			return text, err
		}
		if b.own, err = b.host.load(ctx, b.spec); err != nil {
			return "", err
		}
	}
	return b.own.Schema(ctx, req)
}

// Close ends only what belongs to b.
func (b *borrowed) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.own == nil {
		return nil
	}
	return b.own.Close()
}
