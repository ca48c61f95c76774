package state

import "context"

// MemoryRecorder is a [Recorder] that only keeps the ledger: for previews and for stacks that live in memory.
type MemoryRecorder struct {
	ledger *Ledger
	close  func(*Snapshot)
}

var _ Recorder = (*MemoryRecorder)(nil)

// NewMemoryRecorder records into ledger. closed, if it is not nil, gets the final snapshot when the recorder is closed.
func NewMemoryRecorder(ledger *Ledger, closed func(*Snapshot)) *MemoryRecorder {
	return &MemoryRecorder{ledger, closed}
}

// Begin records an operation.
func (m *MemoryRecorder) Begin(_ context.Context, op Pending) error { return m.ledger.Begin(op) }

// End records a change.
func (m *MemoryRecorder) End(_ context.Context, c Change) error { return m.ledger.End(c) }

// Rebase replaces the base.
func (m *MemoryRecorder) Rebase(_ context.Context, base *Snapshot) error {
	m.ledger.Rebase(base)
	return nil
}

// Close checks the integrity of the final snapshot and hands it on.
func (m *MemoryRecorder) Close(context.Context) error {
	s, err := m.ledger.Snapshot()
	if err != nil {
		return err
	}
	if err := Verify(s); err != nil {
		return err
	}
	if m.close != nil {
		m.close(s)
	}
	return nil
}

// Snapshot returns the recorded snapshot.
func (m *MemoryRecorder) Snapshot() (*Snapshot, error) { return m.ledger.Snapshot() }
