package stages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
)

// extensions layers packages on running providers (steps.md 1.8). Each provider is told of each extension once, before
// the first call about a resource that needs it; others wait for the same answer. A failure is not remembered. It is no
// step of the plan and no event: it changes nothing that people see.
type extensions struct {
	run      *Run
	mu       sync.Mutex
	known    map[string]Parameterization // those that programs registered in this run, by reference
	applying map[extensionKey]*await.Promise[struct{}]
}

type extensionKey struct{ provider, ref string }

func newExtensions(r *Run) *extensions {
	return &extensions{run: r, known: map[string]Parameterization{}, applying: map[extensionKey]*await.Promise[struct{}]{}}
}

// extensionRef is how states refer to an extension: the same for the same content (state.md 1.10).
func (p Parameterization) extensionRef() string {
	h := sha256.New()
	h.Write([]byte(p.Name))
	h.Write([]byte{0})
	h.Write([]byte(p.Version))
	h.Write([]byte{0})
	h.Write(p.Value)
	return hex.EncodeToString(h.Sum(nil))
}

// register remembers an extension and returns its reference.
func (e *extensions) register(p Parameterization) string {
	ref := p.extensionRef()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[ref] = p
	return ref
}

// recordedExtension is an extension in a state file.
type recordedExtension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// find returns an extension that this run has registered or that the state has.
func (e *extensions) find(ref string) (Parameterization, error) {
	e.mu.Lock()
	p, ok := e.known[ref]
	e.mu.Unlock()
	if ok {
		return p, nil
	}
	raw, ok := e.run.Base.Extensions[ref]
	if !ok {
		return p, fmt.Errorf("the recorded state has no extension %s", ref)
	}
	var rec recordedExtension
	if err := json.Unmarshal(raw, &rec); err != nil {
		return p, fmt.Errorf("the recorded extension %s: %w", ref, err)
	}
	return Parameterization(rec), nil
}

// recorded returns what states that refer to an extension of this run must be recorded with; nil if the run did not
// register it.
func (e *extensions) recorded(ref string) json.RawMessage {
	if ref == "" {
		return nil
	}
	e.mu.Lock()
	p, ok := e.known[ref]
	e.mu.Unlock()
	if !ok {
		return nil
	}
	raw, err := json.Marshal(recordedExtension(p))
	if err != nil {
		return nil // strings and bytes always have a JSON form
	}
	return raw
}

// apply makes a provider serve the resources of an extension. reference is the provider's.
func (e *extensions) apply(ctx context.Context, p providers.Provider, reference, ref string) error {
	key := extensionKey{reference, ref}
	e.mu.Lock()
	promise, ok := e.applying[key]
	if !ok {
		promise = await.NewPromise[struct{}]()
		e.applying[key] = promise
	}
	e.mu.Unlock()
	if ok {
		_, err := promise.Wait(ctx)
		return err
	}
	err := e.parameterize(ctx, p, ref)
	if err != nil {
		e.mu.Lock()
		delete(e.applying, key)
		e.mu.Unlock()
		promise.Fail(err)
		return err
	}
	promise.Resolve(struct{}{})
	return nil
}

func (e *extensions) parameterize(ctx context.Context, p providers.Provider, ref string) error {
	ext, err := e.find(ref)
	if err != nil {
		return err
	}
	res, err := p.Parameterize(ctx, providers.ParameterizeRequest{Name: ext.Name, Version: ext.Version, Value: ext.Value})
	if err != nil {
		return fmt.Errorf("extend provider %s by %q: %w", p.Package(), ext.Name, err)
	}
	if res.Name != ext.Name {
		return fmt.Errorf("parameterize response name %q does not match expected package %q", res.Name, ext.Name)
	}
	return nil
}

// extended returns p once it serves the resource: with the extension that the resource needs, if it needs one.
func (r *Run) extended(ctx context.Context, p providers.Provider, s *state.Resource) (providers.Provider, error) {
	if s.ExtensionRef == "" {
		return p, nil
	}
	if err := r.extensions.apply(ctx, p, s.Provider, s.ExtensionRef); err != nil {
		return nil, fmt.Errorf("could not parameterize extension for resource %v: %w", s.URN, err)
	}
	return p, nil
}

// extendFor prepares the provider of a registration for it.
func (r *Run) extendFor(ctx context.Context, l Located) error {
	if l.Goal.ExtensionRef == "" {
		return nil
	}
	p, err := r.providerOf(l)
	if err != nil {
		return err
	}
	if err := r.extensions.apply(ctx, p, l.Goal.Provider, l.Goal.ExtensionRef); err != nil {
		return r.bail(l, codeFailed, err)
	}
	return nil
}
