package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Store keeps the state of one stack.
type Store interface {
	// Load returns the recorded state, nil for a stack that has none.
	Load(ctx context.Context) (*Snapshot, error)
	// Record begins recording a run on top of base, which is the result of Load or a migrated form of it.
	Record(ctx context.Context, base *Snapshot) (Recorder, error)
}

// Recorder keeps the record of one run. It gets operations before they begin and after they end, and each is
// durable when the method returns ([steps.md 9.10]). Its methods may be called from many goroutines.
//
// A file backend that rewrites the checkpoint and a journal are both Recorders.
//
// [steps.md 9.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#910-recording
type Recorder interface {
	// Begin records that an operation is about to start. The operation appears among the pending ones until its End.
	Begin(ctx context.Context, op Pending) error
	// End records a finished step. Begun names the operation begun before it, nil if the step has none.
	End(ctx context.Context, change Change) error
	// Rebase replaces the base by a rebuilt one and drops all changes (after a refresh, steps.md 7.3).
	Rebase(ctx context.Context, base *Snapshot) error
	// Snapshot returns the record at this moment, written or not.
	Snapshot() (*Snapshot, error)
	// Close writes the changes that are not written yet. Nothing may be recorded afterwards.
	Close(ctx context.Context) error
}

// Pending is an operation that has begun and not ended ([state.md 1.8]).
//
// [state.md 1.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#18-pending-operations
type Pending struct {
	Type     PendingType
	Resource *Resource
	// UnderWay is set by a reader of a state while another command works on the stack: as far as is known the operation was not
	// interrupted, but goes on. It is not written.
	UnderWay bool
}

// IsInterruptedCreate reports whether the operation is an interrupted create: it may have made an object that no record has.
func (p Pending) IsInterruptedCreate() bool { return p.Type == Creating && !p.UnderWay }

// IsInDoubt reports whether the outcome of the operation has to be found out. Reads and imports change nothing, and updates and
// deletes of resources without an object do nothing outside the state.
func (p Pending) IsInDoubt() bool {
	switch p.Type {
	case Creating:
		return true
	case Updating, Deleting:
		return p.Resource.ViewOf != "" || p.Resource.Custom && !p.Resource.Type.IsProvider()
	}
	return false
}

// StateIn returns the state of the object of an update or a delete, nil if there is none. The operation may have been to rename it.
// A resource that an update has recorded has no ID: its state is the live one.
func (p Pending) StateIn(resources []*Resource) *Resource {
	for _, u := range append([]urn.URN{p.Resource.URN}, p.Resource.Aliases...) {
		at := slices.IndexFunc(resources, func(r *Resource) bool {
			return r.URN == u && (r.ID == p.Resource.ID || p.Resource.ID == "" && !r.Delete)
		})
		if at >= 0 {
			return resources[at]
		}
	}
	return nil
}

// PendingType is the kind of a pending operation.
type PendingType string

// The types of pending operations.
const (
	Creating  PendingType = "creating"
	Updating  PendingType = "updating"
	Deleting  PendingType = "deleting"
	Reading   PendingType = "reading"
	Importing PendingType = "importing"
)

// Change is the change of the snapshot by a finished step ([state.md 3.2]). Resources are identified by pointer. An empty
// change with only Begun set is a failure that changed nothing.
//
// [state.md 3.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#32-effects-of-steps
type Change struct {
	Begun *Resource // the Resource of the Pending that ends, nil if none
	Add   *Resource // appended
	// Extension is the extension to which Add's ExtensionRef refers, when this run has registered it (state.md 1.10). It is
	// written for as long as some resource refers to it.
	Extension json.RawMessage
	Remove    []*Resource
	Replace   []Replacement // in place
	// DropSnippets are the UUIDs of snippets that are removed (state.md 1.10).
	DropSnippets []string
	// Elide allows the recorder to write this later, with the next change that must be written (state.md 3.3).
	Elide bool
	// Refresh is true if references may be dangling now and have to be dropped (state.md 3.7).
	Refresh bool
}

// Replacement puts New in the place of Old.
type Replacement struct{ Old, New *Resource }

// Snapshot is the recorded state of a stack: one deployment ([state.md 1.4]).
//
// [state.md 1.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#14-deployment
type Snapshot struct {
	Manifest        Manifest
	SecretsProvider *SecretsProvider
	Resources       []*Resource // every resource comes after those that it refers to
	Pending         []Pending
	Metadata        json.RawMessage // as read; nil writes {}
	Snippets        []json.RawMessage
	Extensions      map[string]json.RawMessage

	origin *origin // nil for a snapshot that was not read
}

// Outputs returns the outputs of the stack: those of its root resource. They are empty for a nil snapshot, and for a stack without one.
func (s *Snapshot) Outputs() property.Map {
	if s != nil {
		for _, r := range s.Resources {
			if r.Type == urn.RootStackType && !r.Delete {
				return r.Outputs
			}
		}
	}
	return property.Map{}
}

// HasSealed reports whether a resource or a snippet of a snapshot has a ciphertext, which only the secrets provider can open. Pending operations do
// not count.
func (s *Snapshot) HasSealed() bool {
	for _, r := range s.Resources {
		if r.Inputs.HasSealed() || r.Outputs.HasSealed() || r.ReplacementTrigger.HasSealed() {
			return true
		}
	}
	return slices.ContainsFunc(s.Snippets, func(text json.RawMessage) bool { return bytes.Contains(text, []byte(`"ciphertext"`)) })
}

// ReadFrom returns the [Digest] of the checkpoint that s was read from. Copies of a snapshot keep it, and so do the results of
// this package's edits. It is "" for a snapshot that was not read.
func (s *Snapshot) ReadFrom() string {
	if s == nil || s.origin == nil {
		return ""
	}
	return s.origin.digest
}

// Origin is ReadFrom for a snapshot with exactly the entries that were read, and "" for any other.
func (s *Snapshot) Origin() string {
	if s == nil || s.origin == nil || !slices.Equal(s.Resources, s.origin.resources) || !slices.Equal(s.Pending, s.origin.pending) {
		return ""
	}
	return s.origin.digest
}

// SecretsProvider describes how the secrets of a snapshot are encrypted ([state.md 5.1]).
//
// [state.md 5.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#51-where-the-parameters-are
type SecretsProvider struct {
	Type  string
	State json.RawMessage
}

// Identity distinguishes secrets providers: equal identities mean that one decrypts what the other encrypted. It is ""
// for no provider.
func (p *SecretsProvider) Identity() string {
	if p == nil {
		return ""
	}
	return p.Type + "\x00" + string(p.State)
}

// Digest names the content of a checkpoint: its SHA-256 in hex.
func Digest(checkpoint []byte) string {
	sum := sha256.Sum256(checkpoint)
	return hex.EncodeToString(sum[:])
}

// origin is the checkpoint that a snapshot was read from, and its entries.
type origin struct {
	digest    string
	resources []*Resource
	pending   []Pending
}
