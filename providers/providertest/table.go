package providertest

import (
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Record is one resource that exists in the cloud.
type Record struct {
	ID     string
	URN    urn.URN // of the resource that made it
	Type   urn.Type
	Inputs property.Map
}

// Table holds the existing resources. Its methods may be called from many goroutines. [NewMemory] and [OpenDirectory]
// make one.
type Table interface {
	// Read returns a record; ok is false when there is none.
	Read(id string) (r Record, ok bool, err error)
	// Write adds or replaces a record.
	Write(r Record) error
	// Remove removes a record. It is not an error when there is none.
	Remove(id string) error
	// Made returns the number of records that this URN ever had, removed ones included.
	Made(u urn.URN) (int, error)
	// All returns every record in the order of IDs.
	All() ([]Record, error)
}

// Memory is a table in memory.
type Memory struct {
	mu      sync.Mutex // guards the fields below
	records map[string]Record
	made    map[urn.URN]map[string]struct{}
}

// NewMemory returns an empty table.
func NewMemory() *Memory {
	return &Memory{records: map[string]Record{}, made: map[urn.URN]map[string]struct{}{}}
}

// Clone returns a copy that is independent of later changes of m.
func (m *Memory) Clone() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Memory{records: maps.Clone(m.records), made: make(map[urn.URN]map[string]struct{}, len(m.made))}
	for u, ids := range m.made {
		c.made[u] = maps.Clone(ids)
	}
	return c
}

// Read returns a record.
func (m *Memory) Read(id string) (Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[id]
	return r, ok, nil
}

// Write adds or replaces a record.
func (m *Memory) Write(r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[r.ID] = r
	if m.made[r.URN] == nil {
		m.made[r.URN] = map[string]struct{}{}
	}
	m.made[r.URN][r.ID] = struct{}{}
	return nil
}

// Remove removes a record.
func (m *Memory) Remove(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
	return nil
}

// Made counts the records that a URN ever had.
func (m *Memory) Made(u urn.URN) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.made[u]), nil
}

// All returns every record in the order of IDs.
func (m *Memory) All() ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Record, 0, len(m.records))
	for _, id := range slices.Sorted(maps.Keys(m.records)) {
		all = append(all, m.records[id])
	}
	return all, nil
}
