package rooms

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ProviderState describes the provider of a reference: as this run has registered it, or as it is recorded under that ID. It is nil
// if there is no reference. ok is false if the provider is unknown.
func (rooms *Rooms) ProviderState(reference string) (p *stages.ProviderState, ok bool) {
	if reference == "" {
		return nil, true
	}
	ref, err := urn.ParseProviderRef(reference)
	if err != nil {
		return nil, false
	}
	s, ok := rooms.Results.Lookup(ref.URN)
	if !ok {
		if s = rooms.Base.Providers[ref.String()]; s == nil {
			return nil, false
		}
	}
	return &stages.ProviderState{URN: s.URN, Type: s.Type, Name: s.URN.Name(), Properties: s.Inputs.WithoutInternal()}, true
}

// FinalStates returns the managed resources that this run has registered or carried over, in canonical order.
func (rooms *Rooms) FinalStates() []*state.Resource {
	news := rooms.Results.all()
	maps.DeleteFunc(news, func(u urn.URN, _ *state.Resource) bool { return rooms.Names.NewNameOf(u) != u }) // carried over, then renamed
	urns := slices.Sorted(maps.Keys(news))
	out := make([]*state.Resource, 0, len(urns))
	for _, i := range rooms.inOrder(urns, func(i int) *state.Resource { return news[urns[i]] }) {
		out = append(out, news[urns[i]])
	}
	return out
}

// Present returns the present form of a recorded state, if it still exists.
func (rooms *Rooms) Present(old *state.Resource) []*state.Resource {
	if now := rooms.Results.Current(old); now != nil {
		return []*state.Resource{now}
	}
	return nil
}

// Awaiting returns the stand-in of a name if a delete-before-replace has deleted it and it awaits its replacement.
func (rooms *Rooms) Awaiting(u urn.URN) []*state.Resource {
	old := rooms.Base.StandIn(u)
	if old == nil {
		return nil
	}
	now := rooms.Results.Current(old)
	if now == nil || !now.PendingReplacement {
		return nil
	}
	return []*state.Resource{now}
}

// Supersede removes or marks the state that a new object replaces (steps.md 3.9), and marks its views. An object is retained if the
// new state retains it, although the old one did not (decision 0166): the mark lasts if the run ends before the delete.
func (rooms *Rooms) Supersede(old, by *state.Resource, c *state.Change) {
	now := rooms.Results.Current(old)
	switch {
	case now == nil:
	case now.PendingReplacement:
		c.Remove = append(c.Remove, now)
	default:
		for _, res := range append([]*state.Resource{now}, rooms.liveViewsOf(now)...) {
			marked := res.Clone()
			marked.Delete = true
			marked.RetainOnDelete = marked.RetainOnDelete || by.RetainOnDelete
			c.Replace = append(c.Replace, state.Replacement{Old: res, New: marked})
		}
	}
}

// IsProtected reports whether a replacement must be refused. The protection that the program declares counts, so that a resource
// can be unprotected and replaced in one update (steps.md 3.9), and is safe from the update that protects it (decision 0166). A
// read declares no protection, so the recorded one counts. If the old object is gone, only a recorded protection counts.
func (rooms *Rooms) IsProtected(l stages.Located, gone bool) bool {
	protects := l.Old.Protect
	if l.Goal != nil {
		protects = l.Goal.IsProtected()
	}
	return protects && (l.Old.Protect || !gone) && !rooms.IgnoreProtect
}

// IsOperatedOn reports whether a registration continues the recorded URN (steps.md 0.2). Creates do not count: a URN that is
// created is not in the base. An imported URN may be in the base, as a state that a replacement deleted first.
func (rooms *Rooms) IsOperatedOn(u urn.URN) bool {
	return rooms.Decisions.Has(rooms.Names.NewNameOf(u), Same|Updated|Replaced|Read|Refreshed|Imported)
}

// MissingFrom returns the first by name of the references of a step's resource that are not created, "" if there is none.
func (rooms *Rooms) MissingFrom(s *stages.Decision) urn.URN {
	if s.Kind == stages.Uncreated || s.New == nil {
		return ""
	}
	return rooms.UncreatedOf(s.New)
}

// UncreatedOf returns the first by name of the references of a state that are not created, "" if there is none.
func (rooms *Rooms) UncreatedOf(res *state.Resource) (missing urn.URN) {
	for ref := range res.References() {
		if u := ref.URN; (missing == "" || u < missing) && rooms.Decisions.Has(u, SkippedCreate) {
			missing = u
		}
	}
	return missing
}

// FailedReply answers a registration of which a step has failed. It has the existing object: a resource that did not become
// healthy, and the ID of one that was to be updated.
func (rooms *Rooms) FailedReply(b stages.Built) *stages.RegisterReply {
	reply := &stages.RegisterReply{URN: b.URN, Result: stages.Fail}
	for _, s := range rooms.Outcomes.stepsOf(b.Steps()) {
		switch {
		case !s.Answers:
		case s.Made != nil:
			reply.ID, reply.Outputs = s.Made.ID, s.Made.Outputs
		case s.Op == stages.OpUpdate:
			reply.ID = s.Old.ID
		}
	}
	return reply
}

// FailedDependencyOf returns the failed resource because of which a chain is not executed (steps.md 9.4). It considers the whole
// chain, so that a delete never runs without its create. A provider counts only if the named one is not recorded: then references
// to it could not be recorded either.
func (rooms *Rooms) FailedDependencyOf(b stages.Built) (urn.URN, bool) {
	if !rooms.ContinueOnError || !rooms.HasFailures() {
		return "", false
	}
	cause := urn.URN("")
	for _, s := range b.Steps() {
		if !s.Answers && s.Place != stages.ImportPlace || s.New == nil {
			continue
		}
		wanted := s.New
		if s.IsKept() && b.Goal != nil {
			// The program has not awaited resources that only the recorded state refers to.
			wanted = b.NewState(stages.Checked{})
		}
		for ref := range wanted.References() {
			if ref.Kind == graph.Provider && rooms.Base.Providers[wanted.Provider] != nil {
				continue
			}
			cause = rooms.FirstCause(cause, ref.URN)
		}
	}
	return cause, cause != ""
}
