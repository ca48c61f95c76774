package stages

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Mode says what becomes of the resources that the program of a run declares.
type Mode int

// The modes.
const (
	// ModeUpdate makes them what the program declares and deletes the rest.
	ModeUpdate Mode = iota
	// ModeRefresh records what they are (steps.md 7.4). Components and providers alone are made what the program declares,
	// so that resources are read with the configuration that the program gives their providers.
	ModeRefresh
	// ModeDestroy deletes them, and the rest (steps.md 7.5). Components and providers are made what the program declares
	// before, for the same reason. Without a program nothing is declared.
	ModeDestroy
)

// isManaged tells whether a goal is that of a resource which a provider manages: no component, and no provider itself.
func (g *Goal) isManaged() bool { return g.Custom && !g.Type.IsProvider() }

// standBy decides whether the run makes a registration what the program declares, and whether its recorded state is read
// again first. Both follow from what was decided about the resources that it refers to, which the program has been told
// before. The names must be locked.
func (r *Run) standBy(l *Located) {
	if r.Mode != ModeUpdate {
		l.stranded = r.isStranded(l)
		l.passive = l.stranded || l.Goal != nil && l.Goal.isManaged()
	}
	if r.RefreshEach && l.Goal != nil && l.Old != nil && r.includesRecorded(l.Old) {
		l.rereads = true
		r.names.readers[l.Old] = l.Seq
	}
}

// isStranded tells whether a registration or a read refers to something that is not created.
func (r *Run) isStranded(l *Located) bool {
	if l.Read != nil && l.Read.ID.HasUnknowns() {
		return true
	}
	found := false
	references(l.unmade(Checked{}), func(u urn.URN, _ graph.Kind) { found = found || r.outcomes.has(u, skippedCreate) })
	return found
}

// includesRecorded is [Run.include] for a recorded state, of which nothing is part without being named. The names must be
// locked.
func (r *Run) includesRecorded(s *state.Resource) bool {
	sel, grown := r.Targeting, r.names.grown
	switch {
	case sel.Targets.IsConstrained():
		return sel.Targets.Matches(s.URN) || sel.TargetDependents && refersTo(s, grown.targets, 0)
	case sel.Excludes.IsConstrained():
		return !sel.Excludes.Matches(s.URN) && !(sel.ExcludeDependents && refersTo(s, grown.excludes, 0))
	}
	return true
}

// refersTo tells whether a state refers to a member of the set, in another way than one of those left out.
func refersTo(s *state.Resource, set *urn.PatternSet, without graph.Kind) bool {
	found := false
	references(s, func(u urn.URN, kind graph.Kind) { found = found || kind&without == 0 && set.Matches(u) })
	return found
}

// standBy decides about what is passive.
func (b *builder) standBy(d Diffed, x pipeline.Exchange[Ask, Built]) error {
	o, mode := b.run.outcomes, b.run.Mode
	switch {
	case d.Old == nil && mode == ModeRefresh:
		o.add(d.URN, same|skippedCreate)
		return b.commit(d, []*Decision{b.skippedCreate(d)}, x)
	case d.Old == nil, d.stranded && mode == ModeDestroy:
		// What is recorded of it, if anything, is deleted in the end, as nothing is decided about the URN.
		o.add(d.URN, skippedCreate)
		return b.commit(d, []*Decision{b.skippedCreate(d)}, x)
	case mode == ModeRefresh && d.Old.URN != d.URN && !d.stranded && !o.isGone(d.claimed):
		// It has not been read, but what the program declares after it may refer to its new name.
		o.add(d.URN, same)
		return b.commit(d, []*Decision{renamedStep(d)}, x)
	case mode == ModeRefresh, o.isGone(d.claimed):
		// There is nothing more to do: it has been read, or something else in this run deletes it. The program may still
		// register outputs of a component.
		if (d.stranded || o.isGone(d.claimed)) && d.Old.URN != d.URN {
			o.add(d.URN, skippedCreate) // it stays under its old name, so that nothing made now may refer to the new one
		}
		b.run.world.openFor(&Decision{StepInfo: StepInfo{URN: d.URN, Type: d.subject().typ}, Kind: Uncreated})
		d.Question.answer(importedReply(d.URN, d.Old))
		return b.commit(d, nil, x)
	}
	o.add(d.URN, same)
	s := b.same(d)
	// The object is what it was, and so is what has happened to it.
	s.New.Inputs, s.New.External, s.New.PendingReplacement = d.Old.Inputs, d.Old.External, d.Old.PendingReplacement
	s.Reason = Reason{Kind: ReasonDestroy}
	return b.commit(d, append([]*Decision{s}, b.sameViews(s)...), x)
}

// renamedStep leaves a recorded state as it is but for its name.
func renamedStep(d Diffed) *Decision {
	s := carriedStep(d.Old)
	s.New = d.Old.Clone()
	s.New.URN, s.New.Aliases, s.New.Parent = d.URN, []urn.URN{d.Alias}, d.subject().parent
	s.URN, s.Kind, s.Answers = d.URN, Plain, true
	return s
}

// skippedCreate makes the step of a resource that is not created because a refresh and a destroy create nothing.
func (b *builder) skippedCreate(d Diffed) *Decision {
	fresh := d.unmade(d.Checked)
	s := &Decision{StepInfo: StepInfo{
		Op: OpSame, URN: d.URN, Type: fresh.Type, Old: d.Old, New: fresh, Provider: fresh.Provider, Internal: d.Internal,
		Reason: Reason{Kind: ReasonNotTargeted},
	}, Answers: true, Kind: Uncreated}
	if d.Old != nil {
		s.New.Outputs = d.Old.Outputs
	}
	return s
}

// noteDeclared keeps in mind what a destroy is to delete at its end: everything that its program's registrations and reads
// have led to.
func (r *Run) noteDeclared(steps []*Decision) {
	if r.Mode != ModeDestroy {
		return
	}
	for _, s := range steps {
		if s.New != nil && s.Kind != Uncreated && s.Op != OpReplace {
			r.declared = append(r.declared, s)
		}
	}
}
