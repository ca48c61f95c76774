package why

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/stages"
)

// WithPlanned returns the log of an operation that stopped early, with the changes that the preview before it had decided on and
// that the operation did not reach: these are marked as not reached. It returns l if there are none.
func (l *Log) WithPlanned(preview *Log) *Log {
	if l == nil || preview == nil {
		return l
	}
	out := &Log{About: l.About, Decisions: slices.Clone(l.Decisions)}
	for _, d := range preview.Decisions {
		if len(l.index.byURN[d.URN]) > 0 || d.Internal || d.Op == stages.OpSame || d.Op == stages.OpRead || d.Op == stages.OpRefresh {
			continue
		}
		d.Fate, d.FailedDependency, d.Rename = stages.FateNotReached, "", nil
		out.Decisions = append(out.Decisions, d)
	}
	if len(out.Decisions) == len(l.Decisions) {
		return l
	}
	slices.SortStableFunc(out.Decisions, func(a, b Decision) int { return cmp.Compare(a.URN, b.URN) })
	out.index = newIndex(out.Decisions)
	return out
}
