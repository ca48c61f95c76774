package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/aliases"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// writer makes a document from the data of a builder.
type writer struct {
	seen    *Builder // what the events have shown
	decided map[urn.URN]*why.Decision
	counted display.Counts
	d       *Document
}

func (w *writer) omitted() *Omitted {
	if w.d.Omitted == nil {
		w.d.Omitted = &Omitted{}
	}
	return w.d.Omitted
}

// resources writes the resources with events, then those with decisions only, then details as far as there is room.
func (w *writer) resources() {
	var walk func(n *tree.Node, parent urn.URN)
	walk = func(n *tree.Node, parent urn.URN) {
		for _, c := range inOrder(n) {
			w.d.Resources = append(w.d.Resources, w.resource(c, parent))
			walk(c, c.URN)
		}
	}
	walk(w.seen.tree.Top, "")
	for _, u := range slices.SortedFunc(maps.Keys(w.decided), display.ByKindAndName()) {
		if d := w.decided[u]; w.seen.tree.Node(u) == nil && !d.Internal {
			w.d.Resources = append(w.d.Resources, w.unseen(d))
		}
	}
	for _, p := range w.counted.Unreached {
		if w.seen.tree.Node(p.URN) == nil && w.decided[p.URN] == nil {
			w.d.Resources = append(w.d.Resources, w.predicted(p))
		}
	}
	order := make([]int, len(w.d.Resources))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(w.d.Resources[a].danger(), w.d.Resources[b].danger())
	})
	left := w.seen.o.Limits.Bytes
	for _, i := range order {
		if r := &w.d.Resources[i]; !w.detail(r, &left) {
			w.omitted().Details++
		}
	}
}

func (w *writer) resource(n *tree.Node, parent urn.URN) Resource {
	s := w.seen.latest[n.URN]
	r := Resource{
		URN: n.URN, Type: n.URN.Type(), Name: n.URN.Name(), Parent: parent, Operation: cmp.Or(n.Step.Op, stages.OpSame), Status: w.status(n),
		Steps:      slices.Clone(w.seen.steps[n.URN]), // the operation may continue
		OldRemains: !w.seen.preview && n.Remains(),
	}
	if state := cmp.Or(s.New, s.Old); state != nil {
		r.Component, r.Protected, r.ID = !state.Custom, state.Protect, state.ID
		r.Position = why.Position(state.SourcePosition)
		r.DependsOn = slices.DeleteFunc(slices.Clone(state.Dependencies), func(u urn.URN) bool { return u == parent })
	}
	for _, t := range r.Steps {
		if r.Began.IsZero() {
			r.Began = t.Began
		}
		if t.Ended.After(r.Ended) {
			r.Ended = t.Ended
		}
	}
	if n.Err != nil {
		if r.Error = w.seen.text(n.Err.Error()); w.isSaid(r.URN, r.Error) {
			r.Error = ""
		}
	}
	r.OldURN = n.Step.FormerURN()
	w.explain(&r, n.Step)
	return r
}

// isSaid reports whether a message about a resource contains a text.
func (w *writer) isSaid(u urn.URN, text string) bool {
	return slices.ContainsFunc(w.seen.messages[u], func(m Message) bool { return strings.Contains(m.Text, text) })
}

func (w *writer) status(n *tree.Node) Status {
	switch {
	case n.Status == tree.Failed:
		return Failing
	case n.Status == tree.Running:
		return Unfinished
	case n.Step.Op == stages.OpSame || n.Status == tree.Unseen:
		return Unchanged
	case w.seen.preview:
		return Planned
	}
	return Done
}

// unseen returns a resource without events: it was not reached or skipped, or there are no events.
func (w *writer) unseen(d *why.Decision) Resource {
	r := Resource{URN: d.URN, Type: d.URN.Type(), Name: d.URN.Name(), Parent: w.parentOf(d), Operation: d.Op, OldURN: d.OldURN, Position: d.Position, OldRemains: d.OldRemains}
	switch {
	case d.Fate == stages.FateFailed:
		r.Status = Failing
	case d.Op == stages.OpSame:
		r.Status = Unchanged
	case w.seen.preview:
		r.Status = Planned
	default:
		r.Status = Done
	}
	w.explain(&r, stages.StepInfo{})
	return r
}

// predicted returns a resource of the preview that the operation has not come to.
func (w *writer) predicted(p display.Predicted) Resource {
	return Resource{
		URN: p.URN, Type: p.URN.Type(), Name: p.URN.Name(), Parent: w.parentOf(&why.Decision{URN: p.URN}), Operation: cmp.Or(p.Op, stages.OpSame), Status: NotReached,
	}
}

// parentOf returns the parent of a resource without events: the stack, if nothing else is known. It is "" for a parent that is not in the
// document.
func (w *writer) parentOf(d *why.Decision) urn.URN {
	root := urn.RootStack(w.d.Operation.Stack, w.d.Operation.Project)
	for _, u := range []urn.URN{d.Parent, root} {
		if u != "" && u != d.URN && (w.seen.tree.Node(u) != nil || w.decided[u] != nil) {
			return u
		}
	}
	return ""
}

// explain writes the reason: that of the decision or, if there is none, of the step.
func (w *writer) explain(r *Resource, s stages.StepInfo) {
	reason := s.Reason
	out := Reason{}
	d := w.decided[r.URN]
	if d != nil {
		reason = stages.Reason{Kind: d.Reason, Properties: d.Names, Cause: d.Cause, By: d.DecidedBy, Order: d.Order, Possible: d.Possible}
		out.Causes, out.Roots, out.Departure = d.Causes, d.Roots, d.Departure
		r.DeleteFirst, r.Protected = d.Op == stages.OpReplace && d.DeleteFirst, r.Protected || d.Protected
		r.Position = cmp.Or(d.Position, r.Position)
		switch d.Fate {
		case stages.FateSkipped:
			r.Status, r.FailedDependency = Skipped, d.FailedDependency
		case stages.FateNotReached:
			r.Status = NotReached
		}
		if d.Reason == stages.ReasonUndecided {
			r.Status = Kept
		}
	} else if reason.Cause != "" {
		out.Causes = []urn.URN{reason.Cause}
	}
	if r.Status == Planned {
		r.Certainty = Certain
		if reason.Possible != nil {
			r.Certainty = Possible
		}
	}
	if reason.Kind == stages.ReasonNone {
		return
	}
	out.Possible, out.Possibly = reason.Possible, display.Possibly(reason)
	out.Kind, out.Text, out.Properties, out.DecidedBy = reason.Kind, reason.Clause(), reason.Properties, reason.By
	if d != nil {
		out.Text = d.Because()
	}
	if r.Status == Unchanged && len(out.Causes) == 0 {
		return // the reason is obvious
	}
	r.Reason = &out
}

// detail writes the changes and messages of a resource. It reports whether there was room.
func (w *writer) detail(r *Resource, left *int) bool {
	messages := slices.Clone(w.seen.messages[r.URN])
	var changes []Change
	more := 0
	if r.Status != Unchanged {
		changes, more = w.changes(r)
	}
	size := 0
	for _, m := range messages {
		size += len(m.Text) + 30
	}
	for _, c := range changes {
		size += len(c.Path) + len(c.Old) + len(c.New) + 40
	}
	if size > *left {
		return false
	}
	*left -= size
	r.Messages, r.Changes, r.More = messages, changes, more
	return true
}

func (w *writer) counts() {
	s := &w.d.Summary
	s.Changes, s.Types, s.Statuses = map[stages.Op]int{}, map[stages.Op]map[urn.Type]int{}, map[Status]int{}
	for i := range w.d.Resources {
		r := &w.d.Resources[i]
		s.Statuses[r.Status]++
		if r.Certainty == Possible {
			if s.Possible == nil {
				s.Possible = map[stages.Op]int{}
			}
			s.Possible[r.Operation]++
		}
		switch r.Status { // without a summary, only actual outcomes are counted
		case Planned, Done, Unchanged:
			if w.seen.summary == nil {
				s.Changes[r.Operation]++
			}
		}
		if r.Status != Planned && r.Status != Done {
			continue
		}
		if s.Types[r.Operation] == nil {
			s.Types[r.Operation] = map[urn.Type]int{}
		}
		s.Types[r.Operation][r.Type]++
	}
	s.Errored, s.Unchanged, s.Absent = max(w.counted.Errored, s.Statuses[Failing]), s.Changes[stages.OpSame], w.counted.Absent
	if w.seen.summary != nil {
		maps.Copy(s.Changes, w.counted.Changes)
		s.Unchanged = w.counted.Unchanged
	}
}

// causes writes the root causes and the renames.
func (w *writer) causes(log *why.Log) {
	for _, c := range log.RootCauses() {
		w.d.RootCauses = append(w.d.RootCauses, RootCause{display.RootCause(c, log), c})
	}
	all := log.Renames()
	_, others := aliases.Own(all)
	for _, r := range all {
		one := Rename{Rename: r}
		if r.With == "" {
			one.Alias, one.Others = aliases.Text(w.seen.o.Runtime, r), others[r.To]
		}
		w.d.Renames = append(w.d.Renames, one)
	}
}

func (w *writer) viewer() why.Viewer {
	return why.Viewer{
		IsSensitive: func(text string) bool { return w.seen.o.Mask(text) != text },
		Texts:       w.seen.o.Limits.Text, Elements: w.seen.o.Limits.Elements,
	}
}

// changes returns the changed properties of a resource, and how many more there are.
func (w *writer) changes(r *Resource) (out []Change, more int) {
	s, seen := w.seen.latest[r.URN]
	decision := w.decided[r.URN]
	if !seen {
		if decision != nil {
			return decided(decision), decision.More
		}
		return nil, 0
	}
	if n := w.seen.tree.Node(r.URN); n != nil && n.Step.Old != nil && n.Step.New != nil {
		s = n.Step // the step with the changes
	}
	c := differences{step: s, viewer: w.viewer(), most: w.seen.o.Limits.Changes}
	var old, new property.Map
	if s.Old != nil && r.Operation != stages.OpCreate {
		old = s.Old.Inputs
	}
	if s.New != nil && r.Operation != stages.OpDelete && r.Operation != stages.OpDiscard {
		new = s.New.Inputs
	}
	if r.Operation == stages.OpRefresh && s.Old != nil && s.New != nil {
		old, new = s.Old.Outputs, s.New.Outputs
	}
	c.compare(old, new)
	if decision != nil {
		c.annotate(decision)
	}
	return c.out, c.more
}

// outputs writes the outputs of the stack, changed and unchanged.
func (w *writer) outputs() {
	var old, new property.Map
	switch {
	case w.seen.summary != nil && w.seen.summary.Outputs.Len()+w.seen.summary.OldOutputs.Len() > 0:
		old, new = w.seen.summary.OldOutputs, w.seen.summary.Outputs
	case w.seen.stack.New != nil:
		new = w.seen.stack.New.Outputs
		if w.seen.stack.Old != nil {
			old = w.seen.stack.Old.Outputs
		}
	}
	viewer := w.viewer()
	names := slices.Concat(old.Names(), new.Names())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		path := property.Path{property.Key(name)}
		c := Change{Path: path.String(), Kind: Updated}
		was, had := old.Get(name)
		is, has := new.Get(name)
		switch {
		case !had:
			c.Kind = Added
		case !has:
			c.Kind = Removed
		case property.Equal(was, is):
			c.Kind = Same
		}
		c.Old, c.New = viewer.Pair(old, new, path)
		if c.Kind == Same {
			c.Old = nil
		}
		w.d.Outputs = append(w.d.Outputs, c)
	}
}
