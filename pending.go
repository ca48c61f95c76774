package sluice

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// CreateResolution says what is to be done about a create that an earlier operation began and whose end nobody knows. The
// zero value leaves it: it stays listed.
type CreateResolution struct {
	// Clear forgets it: nothing has been made.
	Clear bool
	// ID is that of the object that was made. It is read and recorded as the resource. If it cannot be read, the operation
	// fails and the create stays listed.
	ID string
}

// warnOfPending tells of operations that an earlier run began and whose end nobody knows (steps.md 9.10). Only runs that
// change something without a refresh warn.
func (s *session) warnOfPending() {
	if s.op.dryRun || len(s.base.Pending) == 0 || s.op.mode == stages.ModeRefresh || s.options.Refresh {
		return
	}
	s.warn("", pendingWarning(s.base.Pending))
}

// pendingWarning keeps the words of the specification in its list, which scripts look for.
func pendingWarning(ops []state.Pending) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Attempting to deploy or update resources with %d pending operations from previous deployment.\n", len(ops))
	for _, op := range ops {
		fmt.Fprintf(&b, "  * %s, interrupted while %s\n", op.Resource.URN, op.Type)
	}
	b.WriteString("Nobody knows whether these operations took effect. Run `sluice refresh`: it finds out what became of updates and deletes,\n" +
		"and asks about each create whether the object exists (check with the cloud provider) and under which ID. Without a\n" +
		"terminal, --import-pending-creates and --clear-pending-creates answer that.")
	return b.String()
}
