package sluice

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state"
)

// warnOfPending tells of operations that an earlier run began and whose end nobody knows (steps.md 9.10). Only runs that
// change something warn.
func (s *session) warnOfPending() {
	if s.op.dryRun || len(s.base.Pending) == 0 {
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
	b.WriteString("Nobody knows whether these operations took effect. Check with the cloud provider what exists, and delete or import what\n" +
		"the stack does not know. Then clear the list: run `sluice stack export --file state.json` and\n" +
		"`sluice stack import --file state.json`.")
	return b.String()
}
