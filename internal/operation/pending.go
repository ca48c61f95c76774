package operation

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// warnOfPending tells of operations that an earlier run began and whose end nobody knows (steps.md 9.10, state.md 9.4 R-10).
// Previews do as well. What refreshes does not: it finds out about most of them.
func (o *opened) warnOfPending() {
	if len(o.base.Pending) == 0 || o.Stages.Mode == stages.ModeRefresh || o.Refresh {
		return
	}
	o.emit(stages.Diagnostic{
		LogMessage: stages.LogMessage{Severity: stages.Warning, Message: pendingWarning(o.base.Pending)}, Pending: o.base.Pending,
	})
}

// pendingWarning keeps the words of the specification in its list, which scripts look for.
func pendingWarning(ops []state.Pending) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Attempting to deploy or update resources with %d pending operations from previous deployment.\n", len(ops))
	for _, op := range ops {
		fmt.Fprintf(&b, "  * %s, interrupted while %s\n", op.Resource.URN, op.Type)
	}
	b.WriteString("Nobody knows whether these operations took effect. `sluice recover` finds out what became of updates and deletes, looks for\n" +
		"what creates have made, and asks where it finds nothing. Until then, what was being created is not created again.")
	return b.String()
}
