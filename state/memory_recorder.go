package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
)

// MemoryRecorder is a [Recorder] that only keeps the ledger: for previews and for stacks that live in memory. It refuses the properties that a
// state file cannot hold.
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
func (m *MemoryRecorder) Begin(_ context.Context, op Pending) error {
	if err := encodable(op.Resource); err != nil {
		return err
	}
	return m.ledger.Begin(op)
}

// End records a change.
func (m *MemoryRecorder) End(_ context.Context, c Change) error {
	err := encodable(c.Add)
	for _, r := range c.Replace {
		err = errors.Join(err, encodable(r.New))
	}
	if err != nil {
		return err
	}
	return m.ledger.End(c)
}

// encodable returns an error for a state with properties that no encoding of it can hold.
func encodable(r *Resource) error {
	if r == nil {
		return nil
	}
	_, inputs := property.Recordable(r.Inputs)
	_, outputs := property.Recordable(r.Outputs)
	if err := errors.Join(inputs, outputs); err != nil {
		return fmt.Errorf("encode resource %s: %w", r.URN, err)
	}
	return nil
}

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
