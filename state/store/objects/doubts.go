package objects

import (
	"slices"
	"sync"
)

// writeID is the metadata in which an object names the conditional write that it is from.
const writeID = "sluicewrite"

// doubts are the conditional writes of this process that were reported as failed and may have happened, or may still happen.
// What one of them has written is nobody else's. The zero doubts is empty.
type doubts struct {
	mu    sync.Mutex          // guards byKey
	byKey map[string][]string // the IDs of the writes
}

func (d *doubts) add(key, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey == nil {
		d.byKey = map[string][]string{}
	}
	d.byKey[key] = append(d.byKey[key], id)
}

// forget is for a key that was written since: the conditions of earlier writes no longer hold.
func (d *doubts) forget(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byKey, key)
}

func (d *doubts) has(key, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.byKey[key], id)
}
