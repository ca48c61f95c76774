package sluice

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/urn"
)

// MemoryState is a [state.Store] in memory. The zero value is a stack without state. It may be used from many goroutines. One
// operation at a time can record: another one is refused before it does anything.
type MemoryState struct {
	// Now is the clock for the manifest; nil is the real one. Set it before the first use.
	Now func() time.Time

	mu        sync.Mutex // guards what follows
	snapshot  *state.Snapshot
	recording bool
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

// ErrRecording is wrapped by the error of an operation on a [MemoryState] that another operation is recording, or has recorded since the
// state was loaded. Nothing was done.
var ErrRecording = errors.New("another operation records the state in memory")

// Record begins a recording. The state at its end becomes that of the stack. It returns [ErrRecording] while another recording is
// open, and if one has ended since base was loaded, whose changes would be lost.
func (m *MemoryState) Record(_ context.Context, base *state.Snapshot) (state.Recorder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.recording:
		return nil, fmt.Errorf("%w; nothing was done, wait until it has ended", ErrRecording)
	case m.snapshot != nil && base != m.snapshot:
		return nil, fmt.Errorf("%w: it has ended since this one loaded the state; nothing was done, try again", ErrRecording)
	}
	m.recording = true
	r := &memoryRecording{state: m}
	ledger := state.NewLedger(base, state.LedgerOptions{Version: ManifestVersion, Now: m.Now})
	r.MemoryRecorder = state.NewMemoryRecorder(ledger, func(s *state.Snapshot) { r.final = s })
	return r, nil
}

// memoryRecording is a recording of a state in memory.
type memoryRecording struct {
	*state.MemoryRecorder
	state *MemoryState
	final *state.Snapshot // nil until the recorder has closed
	once  sync.Once
}

// Close ends the recording, also if the final state is refused. A second call does nothing.
func (m *memoryRecording) Close(ctx context.Context) (err error) {
	m.once.Do(func() {
		err = m.MemoryRecorder.Close(ctx)
		m.state.mu.Lock()
		defer m.state.mu.Unlock()
		m.state.recording = false
		if m.final != nil {
			m.state.snapshot = m.final
		}
	})
	return err
}

// ProtectedURNs returns the names of the protected resources of a stack and of everything that they depend on. A destroy must
// exclude these to keep them ([steps.md 6.1] "--exclude-protected"). A stack without state has none.
//
// [steps.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#61-sets
func ProtectedURNs(s *state.Snapshot) []urn.URN {
	if s == nil {
		return nil
	}
	return standard.ProtectedAndNeeded(s.Resources)
}

// DestroyWaves returns the deletes of a destroy of everything, in the waves in which they can run ([steps.md 5.3]). Nothing in a wave
// depends on anything else in it, and each resource is one wave after the last of its dependents. In a wave resources are in the
// order of the snapshot. Views, and resources that a destroy only removes from the state, are in no wave. The cost is linear in the
// resources and their dependencies, times a logarithm. For previews, the event [stages.DeletionWaves] has the waves.
//
// [steps.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#53-order
func DestroyWaves(s *state.Snapshot) ([][]*state.Resource, error) {
	if s == nil {
		return nil, nil
	}
	return standard.DestroyWaves(s.Resources)
}

// MoveResources works out a move of entries of source to dest, which is nil for a stack that was never deployed. Both
// must have been loaded with [backend.Stack.Load]. [backend.Stack.SaveMove] carries it out.
func MoveResources(ctx context.Context, source, dest *state.Snapshot, resources []*state.Resource, o state.MoveOptions) (*state.Movement, error) {
	if source == nil {
		return nil, errors.New("the stack from which resources are to be moved was never deployed")
	}
	if dest == nil {
		dest = &state.Snapshot{Manifest: state.Manifest{
			Time: time.Now().UTC(), Version: ManifestVersion, Magic: state.Magic(ManifestVersion),
		}}
	}
	return state.Move(ctx, source, dest, resources, o)
}

// EncodePlan returns the content of a plan file that Pulumi reads too ([steps.md 12.1]). Secrets are encrypted with the stack's
// manager, or in plain text if showSecrets is true; the manager may be nil for a plan without secrets.
//
// [steps.md 12.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#121-the-file
func EncodePlan(ctx context.Context, p *state.Plan, m secrets.Manager, showSecrets bool) ([]byte, error) {
	if p == nil {
		return nil, errors.New("there is no plan to encode; an operation makes one if Options.MakePlan is set and it succeeds")
	}
	o := state.EncoderOptions{Plaintext: showSecrets}
	if m != nil {
		o.Encrypter, o.Crypter = m.Encrypter(), m.Provider().Identity()
	}
	return state.EncodePlan(ctx, p, o)
}

// DecodePlan reads a plan file. name is the name of the file, for errors. Secrets are decrypted with the stack's manager,
// which may be nil for a plan without secrets.
func DecodePlan(ctx context.Context, name string, content []byte, m secrets.Manager) (*state.Plan, error) {
	o := state.PlanDecodeOptions{Name: name}
	if m != nil {
		o.Decrypter, o.Crypter = m.Decrypter(), m.Provider().Identity()
	}
	return state.DecodePlan(ctx, content, o)
}
