package sluice

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/state"
)

// Edits of recorded states (state.md 7.10). They are functions from snapshot to snapshot that touch no cloud and no file:
// load a snapshot with [Stack.LoadSealed], which needs no passphrase, edit it, and give the result to [Stack.Save], all
// while holding the stack's lock. What a valid snapshot becomes is valid.
type (
	// StateDeletion says how far [DeleteFromState] may go.
	StateDeletion = state.DeleteOptions
	// StateMove says where [MoveResources] moves and what goes along.
	StateMove = state.MoveOptions
	// StateMovement is what a move makes of two states.
	StateMovement = state.Movement
	// MovedResource is one resource before and after a move.
	MovedResource = state.Moved
	// CutReference is a reference that an edit had to drop.
	CutReference = state.Cut
	// StateRepairs say what [RepairState] has done.
	StateRepairs = state.Repairs
)

// Why an edit is refused.
type (
	// UnknownResourceError says that the state has no such resource, and which are like it.
	UnknownResourceError = state.UnknownResourceError
	// AmbiguousNameError says that several resources have a name.
	AmbiguousNameError = state.AmbiguousNameError
	// ResourceCopiesError says that a URN has several entries, of which one is meant.
	ResourceCopiesError = state.CopiesError
	// DependentsError says that what is to be deleted from the state has dependents.
	DependentsError = state.DependentsError
	// ProtectedError says that what is to be deleted from the state is protected.
	ProtectedError = state.ProtectedError
	// ResourceExistsError says that the URN that a resource would get belongs to another one.
	ResourceExistsError = state.ExistsError
)

// FindResource returns the entry of s that has the URN, or as its only bearer the name, in text. Several copies are a
// [*ResourceCopiesError].
func FindResource(s *Snapshot, text string) (*Resource, error) { return state.FindOne(s, text) }

// FindResources returns all copies of the resource that text means.
func FindResources(s *Snapshot, text string) ([]*Resource, error) { return state.Find(s, text) }

// FindLiveResource is [FindResource] for the live copy: those that await their deletion do not count.
func FindLiveResource(s *Snapshot, text string) (*Resource, error) { return state.FindLive(s, text) }

// LiveResources returns the resources of s except for copies that await their deletion.
func LiveResources(s *Snapshot) []*Resource { return state.Live(s) }

// DescribeCopy tells an entry from the others of the same URN, on one line.
func DescribeCopy(r *Resource) string { return state.DescribeCopy(r) }

// DeleteFromState returns s without entries of it, and what was taken out, dependents first. It returns a
// [*DependentsError] or a [*ProtectedError] if the options do not allow that.
func DeleteFromState(s *Snapshot, targets []*Resource, o StateDeletion) (*Snapshot, []*Resource, error) {
	return state.Delete(s, targets, o)
}

// SetProtect returns s with entries of it protected or not, and those that this changed.
func SetProtect(s *Snapshot, resources []*Resource, protect bool) (*Snapshot, []*Resource) {
	return state.SetProtect(s, resources, protect)
}

// SetTaint returns s with entries of it marked for replacement by the next update or not, and those that this changed.
func SetTaint(s *Snapshot, resources []*Resource, taint bool) (*Snapshot, []*Resource) {
	return state.SetTaint(s, resources, taint)
}

// RenameResource returns s with another name for an entry of it, and everything that refers to it changed accordingly.
func RenameResource(s *Snapshot, r *Resource, name string) (*Snapshot, error) {
	return state.Rename(s, r, name)
}

// RepairState returns a valid form of s and what had to be done; a valid s comes back as it is, with nil. A state for
// which there is no such form is an error.
func RepairState(s *Snapshot) (*Snapshot, *StateRepairs, error) { return state.RepairAll(s) }

// StateText returns s as JSON for an editor, with its secrets encrypted.
func StateText(ctx context.Context, s *Snapshot) ([]byte, error) { return state.EditText(ctx, s) }

// ParseStateText reads what became of the [StateText] of before, nil when nothing has changed, and returns beside it the
// text to show, which has no new secret in the clear. What is not a valid state of the stack of that name is an error
// that says where.
func ParseStateText(ctx context.Context, before *Snapshot, stack string, text []byte) (now *Snapshot, shown []byte, err error) {
	return state.ParseEdit(ctx, before, stack, text)
}

// MoveResources works out a move of entries of source to dest, which is nil for a stack that was never deployed. Both
// must have been loaded with [Stack.Load]. [SaveMove] carries it out.
func MoveResources(ctx context.Context, source, dest *Snapshot, resources []*Resource, o StateMove) (*StateMovement, error) {
	if dest == nil {
		dest = &Snapshot{Manifest: state.Manifest{
			Time: time.Now().UTC(), Version: manifestVersion, Magic: state.Magic(manifestVersion),
		}}
	}
	return state.Move(ctx, source, dest, resources, o)
}

// SaveMove writes a move to its two stacks, whose locks the caller holds: the destination first, so that at every moment
// each resource is recorded by at least one of them. If the source cannot be written, the destination gets its state
// before back. When it is cut off between the two writes, whoever opens one of the stacks next completes it.
func SaveMove(ctx context.Context, source, dest Stack, m *StateMovement) error {
	return source.SaveMove(ctx, m.Source, dest, m.Dest)
}
