package eval

import (
	"sync"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Resource is a resource that was registered or read.
type Resource struct {
	URN          urn.URN
	Type         urn.Type
	ID           property.Value // null for components
	Outputs      property.Map
	Dependencies map[string][]urn.URN // of the outputs of remote components
	Unknown      bool                 // everything about it is unknown
	// Pending is true if the object does not exist yet, so that missing outputs may still be added.
	Pending bool
	Schema  *schema.Resource // nil when it is not known
}

// reference returns the resource as a value.
func (r *Resource) reference() property.Value {
	return property.OutputOf(property.Output{
		Element: property.Of(property.Reference{URN: r.URN, ID: r.ID}), Known: true, Dependencies: []urn.URN{r.URN},
	})
}

// mayHave reports whether an output that is missing in a preview may exist after the update.
func (r *Resource) mayHave(output string) bool {
	if r.Outputs.HasUnknowns() {
		return true
	}
	if r.Schema == nil || len(r.Schema.Outputs) == 0 {
		return r.Pending
	}
	return r.Schema.Outputs[output] != nil
}

// declares reports whether the schema of the resource has an output. Its value may be missing all the same.
func (r *Resource) declares(output string) bool {
	return r.Schema != nil && r.Schema.Outputs[output] != nil
}

// ProviderRef returns the reference to the resource as a provider of registrations.
func (r *Resource) ProviderRef() string {
	id := r.ID.AsString()
	if id == "" {
		id = urn.UnknownID
	}
	return urn.ProviderRef{URN: r.URN, ID: id}.String()
}

// Resources are the registered and read resources of a program. They are safe for many goroutines.
type Resources struct {
	monitor *Monitor

	mu    sync.Mutex // guards byURN
	byURN map[urn.URN]*Resource
}

// NewResources returns an empty set.
func NewResources(m *Monitor) *Resources {
	return &Resources{monitor: m, byURN: map[urn.URN]*Resource{}}
}

// Add adds a resource.
func (rs *Resources) Add(r *Resource) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.byURN[r.URN] = r
}

// find returns the resource of a reference in an output. It reads a resource of another component from the engine.
func (rs *Resources) find(u urn.URN, at syntax.Range) (*Resource, error) {
	rs.mu.Lock()
	known := rs.byURN[u]
	rs.mu.Unlock()
	if known != nil {
		return known, nil
	}
	return rs.hydrate(u, at)
}

// hydrate reads from the engine a resource that this program has not registered itself: a child of a component.
func (rs *Resources) hydrate(u urn.URN, at syntax.Range) (*Resource, error) {
	reply, err := rs.monitor.Invoke(at, &stages.InvokeRequest{
		Token: "pulumi:pulumi:getResource", Package: stages.Package{Name: "pulumi"},
		Args: property.NewMap(map[string]property.Value{"urn": property.String(string(u))}),
	})
	if err != nil {
		return nil, err
	}
	r := &Resource{URN: u, Type: u.Type(), ID: reply.Return.At("id"), Outputs: reply.Return.At("state").AsMap()}
	if inner, _ := r.ID.Unwrap(); inner.IsString() && inner.AsString() == "" {
		r.ID, r.Pending = property.Computed(), true
	}
	rs.Add(r)
	return r, nil
}
