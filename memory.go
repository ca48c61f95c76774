package sluice

import (
	"context"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/state"
)

// MemoryState keeps the state of a stack in memory. The zero value is a stack without state. It may be used from many
// goroutines, but one operation at a time should record.
type MemoryState struct {
	// Now is the clock for the manifest; nil is the real one. Set it before the first use.
	Now func() time.Time

	mu       sync.Mutex
	snapshot *state.Snapshot
}

// NewMemoryState returns a stack with the given state.
func NewMemoryState(s *state.Snapshot) *MemoryState { return &MemoryState{snapshot: s} }

// Load returns the state as the last operation left it.
func (m *MemoryState) Load(context.Context) (*state.Snapshot, error) { return m.Snapshot(), nil }

// Snapshot returns the state as the last operation left it, nil if there has been none.
func (m *MemoryState) Snapshot() *state.Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.snapshot
}

// Record begins a record whose end becomes the stack's state.
func (m *MemoryState) Record(_ context.Context, base *state.Snapshot) (state.Recorder, error) {
	ledger := state.NewLedger(base, state.LedgerOptions{Version: manifestVersion, Now: m.Now})
	return state.NewMemoryRecorder(ledger, func(s *state.Snapshot) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.snapshot = s
	}), nil
}
