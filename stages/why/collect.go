package why

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// New makes the log of an operation from the result of [stages.Run.Decided] and other data about the operation.
func New(about About, decided []stages.Decided, known Known) *Log {
	c := newCollector(decided)
	c.viewer, c.known = Viewer{IsSensitive: known.IsSensitive}, known.withDefaults()
	l := &Log{About: about, Decisions: slices.Grow([]Decision(nil), len(c.order))}
	for _, u := range c.order {
		for _, steps := range decisionsOf(c.steps[u]) {
			d := c.decision(steps)
			d.OldRemains = !about.Preview && d.Op == stages.OpReplace && leavesOld(c.steps[u])
			l.Decisions = append(l.Decisions, d)
		}
	}
	c.addRefused(l)
	if about.Preview {
		l.findRenames(decided)
	}
	l.index = newIndex(l.Decisions)
	return l
}

// collector holds the steps of a run while its log is made.
type collector struct {
	viewer   Viewer
	known    Known
	order    []urn.URN                    // in ascending order
	steps    map[urn.URN][]stages.Decided // of one resource, in an order that does not depend on when registrations arrived
	newNames map[urn.URN]urn.URN          // of resources that were found by an alias, by their recorded names
	declared map[urn.URN]bool             // the names under which the run has made decisions about new states
	changed  map[urn.URN]bool             // whether its outputs changed
	outputs  map[urn.URN]outputs          // those that were needed
	lineage  *lineage                     // made when it is needed
}

func newCollector(decided []stages.Decided) *collector {
	c := &collector{
		steps: make(map[urn.URN][]stages.Decided, len(decided)), newNames: map[urn.URN]urn.URN{}, declared: map[urn.URN]bool{}, changed: map[urn.URN]bool{}, outputs: map[urn.URN]outputs{},
	}
	for _, d := range decided {
		now := cmp.Or(d.Wanted, d.New)
		if now != nil && d.Old != nil && d.Old.URN != now.URN {
			c.newNames[d.Old.URN] = now.URN
		}
		if now != nil && d.Op != stages.OpRefresh {
			c.declared[d.URN] = true
		}
	}
	for _, d := range decided {
		u := c.resource(d)
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
		URN: c.resource(s), Op: s.Op, Internal: isDefaultProvider(s), Reason: s.Reason.Kind, Names: s.Reason.Properties, Cause: c.newName(s.Reason.Cause),
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
	if d.Fate, d.FailedDependency = fateOf(steps); d.Fate == stages.FateFailed {
		d.Errors = c.errorsOf(d.URN)
	}
	if r := cmp.Or(s.Wanted, s.Old); r != nil && !r.Parent.IsRootStack() {
		d.Parent = c.newName(r.Parent)
	}
	if s.Wanted != nil {
		d.Position = Position(s.Wanted.SourcePosition)
		if position, ok := c.known.Declaration(s.Wanted.StackTrace); ok {
			d.Position = position
		}
		if place, ok := c.known.Locate(d.URN, nil); ok && d.Position == "" {
			d.Position = place.Position
		}
	}
	e := evidence{collector: c, step: s, decision: &d, origins: origins{c, s, d.URN}}
	e.gather()
	return d
}

// errorsOf returns the errors about a resource, without those that contain a secret.
func (c *collector) errorsOf(u urn.URN) []string {
	var out []string
	for _, f := range c.known.Failures {
		if f.URN == u {
			out = append(out, c.viewer.masked(f.Err.Error()))
		}
	}
	return out
}

// addRefused adds a decision about each resource that failed before anything was decided about it, for example because the provider
// refused its inputs. If its recorded state was left as it is, and no other decision about it has failed, that decision has failed. Others have decided to delete a resource if
// it is skipped because of its own failure: then the failure is a decision of its own.
func (c *collector) addRefused(l *Log) {
	decided := l.Decisions // in ascending order of their URNs
	for i, f := range c.known.Failures {
		if f.URN == "" || f.URN.IsRootStack() || i > 0 && c.known.Failures[i-1].URN == f.URN {
			continue
		}
		at, known := slices.BinarySearchFunc(decided, f.URN, func(d Decision, u urn.URN) int { return cmp.Compare(d.URN, u) })
		own, failed := !known, false
		for k := at; k < len(decided) && decided[k].URN == f.URN; k++ {
			own = own || decided[k].FailedDependency == f.URN
			failed = failed || decided[k].Fate == stages.FateFailed
		}
		if failed && !own {
			continue // it is the failure of that decision, for example to delete an old copy
		}
		if own {
			d := Decision{URN: f.URN, Op: stages.OpSame, Internal: f.URN.IsDefaultProvider()}
			if place, ok := c.known.Locate(f.URN, nil); ok {
				d.Position = place.Position
			}
			at = len(l.Decisions)
			l.Decisions = append(l.Decisions, d)
		}
		if d := &l.Decisions[at]; len(d.Errors) == 0 && d.Op == stages.OpSame {
			d.Fate, d.Reason, d.Roots, d.Errors = stages.FateFailed, stages.ReasonRefused, []Root{RootFailure}, c.errorsOf(f.URN)
		}
	}
	slices.SortStableFunc(l.Decisions, func(a, b Decision) int { return cmp.Compare(a.URN, b.URN) })
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

// resource returns the current URN of the resource that a step is about. A renamed resource is read and deleted under its recorded
// URN, which another resource may have by now.
func (c *collector) resource(d stages.Decided) urn.URN {
	switch {
	case d.CurrentURN != "":
		return d.CurrentURN
	case cmp.Or(d.Wanted, d.New) == nil || d.Op == stages.OpRefresh:
		return c.recordedName(d.URN)
	}
	return d.URN
}

// recordedName returns the current URN of the resource with a recorded URN.
func (c *collector) recordedName(u urn.URN) urn.URN {
	if now, ok := c.newNames[u]; ok {
		return now
	}
	return u
}

// newName returns the current URN of a resource with a current or a recorded URN.
func (c *collector) newName(u urn.URN) urn.URN {
	if c.declared[u] {
		return u
	}
	return c.recordedName(u)
}

// drifted returns the recorded and the found state of a refresh before the operation, if they differ.
func (c *collector) drifted(u urn.URN) (recorded, found *state.Resource) {
	for _, s := range c.steps[u] {
		if s.Op == stages.OpRefresh && s.New != nil && s.New != s.Old {
			return s.Old, s.New
		}
	}
	return nil, nil
}

// standsFor returns the resources with the outputs of a dependency: those in a component, or the resource itself.
func (c *collector) standsFor(u urn.URN) []urn.URN {
	if !c.isQuietComponent(u) {
		return []urn.URN{u}
	}
	return c.inside(u)
}

// recorded returns the state of a resource before the operation, nil if there was none.
func (c *collector) recorded(u urn.URN) *state.Resource {
	for _, s := range c.steps[u] {
		if s.Old != nil {
			return s.Old
		}
	}
	return nil
}

// family returns the lineage of all resources with a decision.
func (c *collector) family() *lineage {
	if c.lineage != nil {
		return c.lineage
	}
	c.lineage = &lineage{
		parents: map[urn.URN]urn.URN{}, children: map[urn.URN][]urn.URN{},
		followers: map[urn.URN][]urn.URN{}, readers: map[urn.URN][]urn.URN{},
	}
	for _, u := range c.order {
		for _, s := range c.steps[u] {
			c.enter(u, s)
		}
		if p, ok := c.lineage.parents[u]; ok {
			c.lineage.children[p] = append(c.lineage.children[p], u)
		}
	}
	return c.lineage
}

// enter puts the references of one step into the lineage.
func (c *collector) enter(u urn.URN, s stages.Decided) {
	l := c.lineage
	follow := func(list map[urn.URN][]urn.URN, on urn.URN) {
		on = c.newName(on)
		known := list[on]
		if on != "" && on != u && (len(known) == 0 || known[len(known)-1] != u) { // one resource is entered after the other
			list[on] = append(known, u)
		}
	}
	if s.Reason.Kind != stages.ReasonCarriedForward { // in that reason the direction is reversed
		follow(l.followers, s.Reason.Cause)
	}
	follow(l.followers, s.FailedDependency)
	if s.Wanted == nil {
		return
	}
	if s.Wanted.Parent != "" {
		l.parents[u] = c.newName(s.Wanted.Parent)
	}
	for ref := range s.Wanted.References() {
		follow(l.followers, ref.URN)
		if ref.Kind == graph.PropertyDependency {
			follow(l.readers, ref.URN)
		}
	}
}

// after returns the resources that were decided about after a resource because of it: its followers, their followers, and so on. A
// resource that has values from a component follows everything in the component that they may come from. So two resources are never
// the sources of each other's values, however many others are in between.
func (c *collector) after(u urn.URN) map[urn.URN]bool {
	l := c.family()
	if l.of == u && l.later != nil {
		return l.later
	}
	l.later, l.of = map[urn.URN]bool{u: true}, u
	todo := []urn.URN{u}
	visit := func(us []urn.URN) {
		for _, v := range us {
			if !l.later[v] {
				l.later[v] = true
				todo = append(todo, v)
			}
		}
	}
	within := map[urn.URN]bool{} // components that contain a source among them
	for at := 0; at < len(todo); at++ {
		visit(l.followers[todo[at]])
		if !c.isSource(todo[at]) {
			continue
		}
		for p, ok := l.parents[todo[at]]; ok && !within[p]; p, ok = l.parents[p] {
			within[p] = true
			if c.isQuietComponent(p) {
				visit(l.readers[p])
			}
		}
	}
	return l.later
}

// hasChanged reports whether the outputs of a resource changed in this operation, so that values from them may have changed, too.
func (c *collector) hasChanged(u urn.URN) bool {
	if known, ok := c.changed[u]; ok {
		return known
	}
	changed := slices.ContainsFunc(c.steps[u], changesOutputs)
	c.changed[u] = changed
	return changed
}

func changesOutputs(s stages.Decided) bool {
	switch {
	case s.New == nil:
		return false
	case s.Old == nil:
		return true
	case s.Op == stages.OpSame && s.Old.Custom:
		return false
	}
	return s.Old.ID != s.New.ID || !property.EqualMaps(s.Old.Outputs, s.New.Outputs)
}

// sources returns the changed resources among the given ones from which values of a resource may come, in ascending order. A
// component stands for the resources in it, because its outputs come from theirs. A resource in it that was decided about later,
// because it depends on the resource, is no source.
func (c *collector) sources(of urn.URN, deps []urn.URN) []urn.URN {
	var out []urn.URN
	for _, u := range deps {
		u = c.newName(u)
		if c.isQuietComponent(u) {
			out = append(out, c.changedInside(u, of)...)
		} else if c.hasChanged(u) {
			out = append(out, u)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isQuietComponent reports whether a resource is a component that does not change itself.
func (c *collector) isQuietComponent(u urn.URN) bool {
	steps := c.steps[u]
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s stages.Decided) bool {
		return s.New == nil || s.New.Custom || s.Op != stages.OpSame
	})
}

// changedInside lists the changed resources in a component, at any depth, without those that follow the given resource.
func (c *collector) changedInside(component, before urn.URN) []urn.URN {
	out := slices.DeleteFunc(c.inside(component), func(u urn.URN) bool { return !c.isSource(u) })
	if len(out) == 0 {
		return nil
	}
	later := c.after(before)
	return slices.DeleteFunc(out, func(u urn.URN) bool { return later[u] })
}

// inside lists the resources in a component, at any depth.
func (c *collector) inside(component urn.URN) []urn.URN {
	l := c.family()
	todo := slices.Clone(l.children[component])
	for at := 0; at < len(todo) && todo[at] != component; at++ {
		todo = append(todo, l.children[todo[at]]...)
	}
	return todo
}

// isSource reports whether a resource changed and does not merely stand for the resources in it.
func (c *collector) isSource(u urn.URN) bool { return !c.isQuietComponent(u) && c.hasChanged(u) }

// outputsOf returns the outputs of a resource with a decision.
func (c *collector) outputsOf(u urn.URN) outputs {
	if o, ok := c.outputs[u]; ok {
		return o
	}
	o := outputs{map[string]bool{}, map[string]bool{}}
	before := map[string]bool{}
	enter := func(texts map[string]bool, r *state.Resource) {
		if r == nil {
			return
		}
		for _, v := range r.Outputs.All() {
			eachText(v, func(text string) { texts[text] = true })
		}
		if r.ID != "" {
			texts[r.ID] = true
		}
	}
	for _, s := range c.steps[u] {
		enter(o.texts, s.New)
		enter(before, s.Old)
	}
	for text := range o.texts {
		if !before[text] {
			o.changed[text] = true
		}
	}
	c.outputs[u] = o
	return o
}

// lineage has the order of decisions, as far as it does not depend on timing: whatever refers to a resource was decided about after
// it. All names are new ones.
type lineage struct {
	parents   map[urn.URN]urn.URN
	children  map[urn.URN][]urn.URN // in ascending order
	followers map[urn.URN][]urn.URN // resources that refer to one, or name it as their reason
	readers   map[urn.URN][]urn.URN // resources that have values from one
	// later has the resources that follow the one of the last query: all properties of one are handled together.
	later map[urn.URN]bool
	of    urn.URN
}
