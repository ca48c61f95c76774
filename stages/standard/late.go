package standard

import (
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// warnTooLate reports that the program protects or retains a resource too late: the delete-before-replace of another resource, which
// deletes the old object, was decided and begun before the program declared the resource. A preview can still refuse it
// (decision 0191).
func warnTooLate(c *control.Control, r *rooms.Rooms, l stages.Located) {
	old := l.Claimed
	why, _ := r.Decisions.ReasonOf(old)
	cause := why.Cause
	protects := l.Goal.IsProtected() && !old.Protect && !r.IgnoreProtect
	retains := l.Goal.IsRetained() && !old.RetainOnDelete
	option := "retainOnDelete"
	if protects {
		option = "protect"
	}
	switch {
	case old.PendingReplacement || old.External || !protects && !retains:
	case protects && c.DryRun():
		c.Fail(l.Seq, l.URN, 0, &state.ProtectedError{URNs: []urn.URN{l.URN}, Refused: state.RefusedReplace, With: cause})
	case c.DryRun():
		c.Warn(l.URN, "its old object goes with that of %s, which is deleted before it is replaced: %s is not recorded yet, and comes too late. "+
			"To keep the old object, make an update first that changes nothing but this option", cause.Name(), option)
	default:
		c.Warn(l.URN, "its old object %s goes with that of %s, which is deleted before it is replaced: that was decided before the program declared %s, "+
			"which was not recorded yet, and comes too late. It counts for the new object. "+
			"A preview shows this in time; what keeps the object is an update before this one that changes nothing but the option", old.ID, cause.Name(), option)
	}
}
