package access

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// Extensions layers packages on running providers (steps.md 1.8). Each provider gets each extension once, before the first call
// about a resource that needs it; others wait for the same answer. A failure is not kept. Extending is neither a step nor an event:
// it changes nothing that users see.
type Extensions struct {
	inState  map[string]json.RawMessage // those in the recorded state
	applying await.Flight[extensionKey, struct{}]

	mu    sync.Mutex                         // guards known
	known map[string]stages.Parameterization // those that programs have registered in this run, by reference
}

type extensionKey struct {
	provider providers.Provider
	ref      string
}

// NewExtensions returns the extensions of a run. inState are those of the recorded state, by reference.
func NewExtensions(inState map[string]json.RawMessage) *Extensions {
	return &Extensions{inState: inState, known: map[string]stages.Parameterization{}}
}

// Register adds an extension and returns its reference.
func (e *Extensions) Register(p stages.Parameterization) string {
	ref := p.Ref()
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

// find returns an extension that this run has registered or that is in the state.
func (e *Extensions) find(ref string) (stages.Parameterization, error) {
	e.mu.Lock()
	p, ok := e.known[ref]
	e.mu.Unlock()
	if ok {
		return p, nil
	}
	raw, ok := e.inState[ref]
	if !ok {
		return p, fmt.Errorf("the recorded state has no extension %s", ref)
	}
	var rec recordedExtension
	if err := json.Unmarshal(raw, &rec); err != nil {
		return p, fmt.Errorf("the recorded extension %s: %w", ref, err)
	}
	return stages.Parameterization(rec), nil
}

// Recorded returns the record of an extension, for states that refer to it; nil if this run did not register it.
func (e *Extensions) Recorded(ref string) json.RawMessage {
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

// Apply makes a provider serve the resources of an extension.
func (e *Extensions) Apply(ctx context.Context, p providers.Provider, ref string) error {
	_, err := e.applying.Do(ctx, extensionKey{p, ref}, func() (struct{}, error) { return struct{}{}, e.parameterize(ctx, p, ref) })
	return err
}

func (e *Extensions) parameterize(ctx context.Context, p providers.Provider, ref string) error {
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
