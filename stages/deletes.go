package stages

import (
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Deleting is a delete that has been decided on and has not begun ([steps.md 5]).
//
// [steps.md 5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#5-the-end-phase
type Deleting struct {
	// Op is [OpDelete] for an object that is no longer wanted and [OpDeleteReplaced] for the old object of a replacement.
	// [OpDiscard] and [OpDiscardReplaced] remove states that were only read.
	Op       Op
	URN      urn.URN
	Old      *state.Resource // the deleted state
	Reason   Reason
	Internal bool // a default provider: neither shown nor counted
	// Seq is the number of the registration whose replacement needs the delete, or [EndPhaseSeq].
	Seq int
	// RetainedNow is true for an object that stays because the program declares retainOnDelete now, and Old did not, or
	// because an import has recorded it anew.
	RetainedNow bool
}

// Deleted is a delete that has ended.
type Deleted struct {
	Deleting
	Err error // why it failed; nil for a success
}

// DeletesIn returns the deletes among the decisions, in their order.
func DeletesIn(ds []*Decision) []Deleting {
	var out []Deleting
	for _, d := range ds {
		if IsDelete(d) {
			out = append(out, DeletingOf(d))
		}
	}
	return out
}

// IsDelete reports whether a decision deletes a recorded object. Views, and the records of objects that are gone already, are only
// removed.
func IsDelete(d *Decision) bool {
	return Removes(d.Op) && d.Op != OpRemovePendingReplace && d.View == nil && d.Old != nil
}

// DeletingOf describes a decision to delete.
func DeletingOf(d *Decision) Deleting {
	return Deleting{Op: d.Op, URN: d.URN, Old: d.Old, Reason: d.Reason, Internal: d.Internal, Seq: d.Seq, RetainedNow: d.RetainedNow}
}

// IsManaged reports whether an update calls a provider for the delete: the resource is no component and no provider, was not only
// read, and its object is not retained.
func (d Deleting) IsManaged() bool {
	return d.Old.Custom && !d.Old.Type.IsProvider() && !d.Old.External && !d.Old.RetainOnDelete && !d.RetainedNow
}

// Refuse returns the error with which a stage refuses the delete: the run stops, and the message is shown at the resource.
func (d Deleting) Refuse(message string) error { return &RefusedError{URN: d.URN, Message: message} }

// String names the item for messages about a panic.
func (d Deleting) String() string { return "the delete of " + string(d.URN) }

// Sequence is the number of the registration: errors are listed by it.
func (d Deleting) Sequence() int64 { return int64(d.Seq) }

// Identity returns the part that stages must not change: a recorded state is deleted once.
func (d Deleting) Identity() Identity { return Identity{seq: d.Seq, urn: d.URN, old: d.Old} }
