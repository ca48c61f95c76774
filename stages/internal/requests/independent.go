package requests

import (
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// independent keeps maps of properties without dependencies. Most resources of a type have the same properties, and share one map.
// It is safe for concurrent use.
type independent struct {
	mu   sync.RWMutex // guards last
	last map[urn.Type]map[string][]urn.URN
}

// of returns a map that lists the properties, all without dependencies. The caller must not change it.
func (i *independent) of(t urn.Type, properties property.Map) map[string][]urn.URN {
	i.mu.RLock()
	m, ok := i.last[t]
	i.mu.RUnlock()
	if ok && lists(m, properties) {
		return m
	}
	m = make(map[string][]urn.URN, properties.Len())
	for name := range properties.All() {
		m[name] = []urn.URN{}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.last == nil {
		i.last = map[urn.Type]map[string][]urn.URN{}
	}
	i.last[t] = m
	return m
}

// lists reports whether m has these properties and no others.
func lists(m map[string][]urn.URN, properties property.Map) bool {
	if len(m) != properties.Len() {
		return false
	}
	for name := range properties.All() {
		if _, ok := m[name]; !ok {
			return false
		}
	}
	return true
}
