package why

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// New makes the log of an operation from the result of [stages.Run.Decided] and other data about the operation.
func New(about About, decided []stages.Decided, known Known) *Log {
	c := newCollector(decided)
	c.Viewer, c.known = Viewer{IsSensitive: known.IsSensitive}, known.withDefaults()
	l := &Log{About: about, Decisions: slices.Grow([]Decision(nil), len(c.order))}
	for _, u := range c.order {
		for _, steps := range decisionsOf(c.steps[u]) {
			d := c.decision(steps)
			d.OldRemains = !about.Preview && d.Op == stages.OpReplace && leavesOld(c.steps[u])
			l.Decisions = append(l.Decisions, d)
		}
	}
	if about.Preview {
		l.findRenames(decided)
	}
	l.index = newIndex(l.Decisions)
	return l
}

// findRenames notes the deletes and creates that look like one resource.
func (l *Log) findRenames(decided []stages.Decided) {
	found := map[urn.URN]*renames.Rename{}
	for _, r := range renames.Find(func(yield func(*stages.StepInfo) bool) {
		for _, d := range decided {
			if d.Fate == stages.FateDone && !yield(d.StepInfo) {
				return
			}
		}
	}) {
		found[r.From], found[r.To] = &r, &r
	}
	if len(found) == 0 {
		return
	}
	for i, d := range l.Decisions {
		if d.Op == stages.OpDelete || d.Op == stages.OpCreate {
			l.Decisions[i].Rename = found[d.URN]
		}
	}
}

// collector holds the steps of a run while its log is made.
type collector struct {
	Viewer
	known    Known
	order    []urn.URN                    // in ascending order
	steps    map[urn.URN][]stages.Decided // of one resource, in an order that does not depend on when registrations arrived
	newNames map[urn.URN]urn.URN          // of resources that were found by an alias
	changed  map[urn.URN]bool             // whether its outputs changed
	outputs  map[urn.URN]outputs          // those that were needed
	lineage  *lineage                     // made when it is needed
}

func newCollector(decided []stages.Decided) *collector {
	c := &collector{
		steps: make(map[urn.URN][]stages.Decided, len(decided)), newNames: map[urn.URN]urn.URN{}, changed: map[urn.URN]bool{}, outputs: map[urn.URN]outputs{},
	}
	for _, d := range decided {
		if d.Old != nil && d.New != nil && d.Old.URN != d.New.URN {
			c.newNames[d.Old.URN] = d.New.URN
		}
	}
	for _, d := range decided {
		u := c.newName(d.URN) // a renamed resource is deleted under its former name
		if _, known := c.steps[u]; !known {
			c.order = append(c.order, u)
		}
		c.steps[u] = append(c.steps[u], d)
	}
	slices.Sort(c.order)
	for u, steps := range c.steps {
		// Decisions with the registrations of other resources come first: which of them arrives first is a matter of timing.
		slices.SortStableFunc(steps, func(a, b stages.Decided) int { return cmp.Compare(turn(a, u), turn(b, u)) })
	}
	return c
}

// turn orders the steps of a resource by the registrations that have decided them.
func turn(d stages.Decided, u urn.URN) int {
	if d.Declared != "" && d.Declared != u {
		return 0
	}
	return 1
}

// decisionsOf groups the steps of one resource into decisions: the steps of a replacement are one.
func decisionsOf(steps []stages.Decided) [][]stages.Decided {
	replaces := slices.ContainsFunc(steps, func(d stages.Decided) bool { return d.Op == stages.OpReplace })
	var out [][]stages.Decided
	replacement := -1
	for _, s := range steps {
		switch {
		case s.Op == stages.OpRefresh && isUneventful(s):
		case replaces && s.Op.Whole() == stages.OpReplace:
			if replacement < 0 {
				replacement = len(out)
				out = append(out, nil)
			}
			out[replacement] = append(out[replacement], s)
		default:
			out = append(out, []stages.Decided{s})
		}
	}
	return out
}

// isUneventful reports whether a refresh before an operation found nothing of interest.
func isUneventful(s stages.Decided) bool {
	return s.Fate == stages.FateDone && s.Reason.Kind != stages.ReasonDrift && s.Reason.Kind != stages.ReasonVanished
}

// principal returns the step of a decision whose states and reason count: for a replacement the one that makes the new object.
func principal(steps []stages.Decided) stages.Decided {
	for _, s := range steps {
		switch s.Op {
		case stages.OpCreateReplacement, stages.OpReadReplacement, stages.OpImportReplacement:
			return s
		}
	}
	return steps[0]
}

// decision describes the decision about one resource.
func (c *collector) decision(steps []stages.Decided) Decision {
	s := principal(steps)
	d := Decision{
		URN: c.newName(s.URN), Op: s.Op, Internal: isDefaultProvider(s), Reason: s.Reason.Kind, Names: s.Reason.Properties, Cause: c.newName(s.Reason.Cause),
		DecidedBy: s.Reason.By, Order: s.Reason.Order, Ignored: s.Reason.Ignored, Possible: s.Reason.Possible,
	}
	if len(steps) > 1 {
		d.Op, d.DeleteFirst = stages.OpReplace, deletesFirst(steps)
	}
	if s.Reason.Kind == stages.ReasonInputs || s.Reason.Kind == stages.ReasonReplaceOnChanges {
		d.ReplaceKeys = s.Keys
	}
	if s.Old != nil && s.Old.URN != d.URN {
		d.OldURN = s.Old.URN
	}
	d.Protected = s.Old != nil && s.Old.Protect
	d.Fate, d.FailedDependency = fateOf(steps)
	if r := cmp.Or(s.Wanted, s.Old); r != nil && !r.Parent.IsRootStack() {
		d.Parent = c.newName(r.Parent)
	}
	if s.Wanted != nil {
		d.Position = Position(s.Wanted.SourcePosition)
		if place, ok := c.known.Locate(d.URN, nil); ok && d.Position == "" {
			d.Position = place.Position
		}
	}
	e := evidence{collector: c, step: s, decision: &d}
	e.gather()
	return d
}

func deletesFirst(steps []stages.Decided) bool {
	for _, s := range steps {
		switch s.Op {
		case stages.OpReplace:
			return true
		case stages.OpCreateReplacement, stages.OpReadReplacement, stages.OpImportReplacement:
			return false
		}
	}
	return false
}

// leavesOld reports whether the steps of one resource have made its new object, and not all of its old ones are gone.
func leavesOld(steps []stages.Decided) bool {
	made, removed, left := false, false, false
	for _, s := range steps {
		switch {
		case stages.Replacing(s.Op):
			made = made || s.Fate == stages.FateDone
		case s.Op == stages.OpDeleteReplaced || s.Op == stages.OpDiscardReplaced:
			removed = removed || s.Fate == stages.FateDone
			left = left || s.Fate != stages.FateDone
		}
	}
	return made && (left || !removed)
}

// fateOf returns the worst fate of the steps.
func fateOf(steps []stages.Decided) (stages.Fate, urn.URN) {
	for _, fate := range []stages.Fate{stages.FateFailed, stages.FateSkipped, stages.FateNotReached} {
		for _, s := range steps {
			if s.Fate == fate {
				return fate, s.FailedDependency
			}
		}
	}
	return stages.FateDone, ""
}

// newName returns the current URN of a recorded one.
func (c *collector) newName(u urn.URN) urn.URN {
	if now, ok := c.newNames[u]; ok {
		return now
	}
	return u
}

// drifted returns the recorded and the found state of a refresh before the operation, if they differ.
func (c *collector) drifted(u urn.URN, old *state.Resource) (recorded, found *state.Resource) {
	for _, name := range []urn.URN{u, old.URN} {
		for _, s := range c.steps[name] {
			if s.Op == stages.OpRefresh && s.New != nil && s.New != s.Old {
				return s.Old, s.New
			}
		}
	}
	return nil, nil
}
