// Package doubts remembers conditional writes whose outcome is not known, for stores behind a network.
//
// It sends nothing and reads nothing: a store names each of its conditional writes in what it writes, under [Name], and asks
// here about what it finds.
//
// Invariant: a write that is remembered is one of this process.
package doubts

import (
	"slices"
	"sync"
)

// Name is what a content says by it which conditional write it is from.
const Name = "sluicewrite"

// Doubts are the conditional writes of this process that were reported as failed and may have happened, or may still happen.
// What one of them has written is nobody else's. The zero Doubts is empty. Its methods may be called from any goroutine.
type Doubts struct {
	mu    sync.Mutex          // guards byKey
	byKey map[string][]string // the IDs of the writes
}

// Add remembers a write of a key.
func (d *Doubts) Add(key, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey == nil {
		d.byKey = map[string][]string{}
	}
	d.byKey[key] = append(d.byKey[key], id)
}

// Forget is for a key that was written since: the conditions of earlier writes no longer hold.
func (d *Doubts) Forget(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byKey, key)
}

// Has reports whether a write of a key is remembered.
func (d *Doubts) Has(key, id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.byKey[key], id)
}
