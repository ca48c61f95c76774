package operation

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// warnOfPending lists the pending operations of earlier runs (steps.md 9.10, state.md 9.4 R-10), in previews too. An
// operation that refreshes does not list them: it resolves most of them.
func (o *opened) warnOfPending() {
	interrupted, underWay := separate(o.base.Pending)
	if len(underWay) > 0 {
		o.events.emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: underWayWarning(underWay)}})
	}
	if len(interrupted) == 0 || o.settings.Stages.Mode == stages.ModeRefresh || o.settings.Refresh {
		return
	}
	o.events.emit(stages.Diagnostic{
		LogMessage: stages.LogMessage{Severity: stages.Warning, Message: pendingWarning(interrupted),
			Advice: []advice.Advice{advice.On(advice.Recover)},
		}, Pending: interrupted,
	})
}

// separate returns the operations that were interrupted, and those that another command is carrying out.
func separate(ops []state.Pending) (interrupted, underWay []state.Pending) {
	for _, op := range ops {
		if op.UnderWay {
			underWay = append(underWay, op)
		} else {
			interrupted = append(interrupted, op)
		}
	}
	return interrupted, underWay
}

func underWayWarning(ops []state.Pending) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Another command is working on the stack. Its operations that have not ended (%d):\n", len(ops))
	for _, op := range ops {
		fmt.Fprintf(&b, "  * %s, %s\n", op.Resource.URN, op.Type)
	}
	b.WriteString("What is shown is a moment of it: these resources are taken as they were before")
	return b.String()
}

// pendingWarning keeps the words of steps.md 9.10 in its list, because scripts look for them.
func pendingWarning(ops []state.Pending) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Attempting to deploy or update resources with %d pending operations from previous deployment.\n", len(ops))
	for _, op := range ops {
		fmt.Fprintf(&b, "  * %s, interrupted while %s\n", op.Resource.URN, op.Type)
	}
	b.WriteString("It is not known whether these operations took effect, and what was being created is not created again before that is known")
	return b.String()
}
