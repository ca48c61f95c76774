// Package doubts records conditional writes with an uncertain outcome, for stores behind a network.
//
// It sends nothing and reads nothing. A store puts the ID of each conditional write into the content's metadata, under
// [Name]. It calls [Doubts.Has] with the ID of a content that it finds.
//
// Invariant: every recorded write is one of this process.
package doubts

import (
	"slices"
	"sync"
)

// Name is the metadata key for the ID of the conditional write that wrote a content.
const Name = "sluicewrite"

// Doubts are the conditional writes of this process that were reported as failed and may have happened, or may still happen.
// Their contents belong to no other process. The zero Doubts is empty. Its methods may be called from any goroutine.
type Doubts struct {
	mu    sync.Mutex          // guards byKey
	byKey map[string][]string // the IDs of the writes
}

// Add records a write of a key.
func (d *Doubts) Add(key, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey == nil {
		d.byKey = map[string][]string{}
	}
	d.byKey[key] = append(d.byKey[key], id)
}

// Forget drops the writes of a key that was written since: the conditions of earlier writes no longer hold.
func (d *Doubts) Forget(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byKey, key)
}

// Has reports whether a write of a key is recorded.
func (d *Doubts) Has(key, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.byKey[key], id)
}
