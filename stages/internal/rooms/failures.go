package rooms

import (
	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Failures answers which registrations have failed, and what follows for others. Results and omissions hold the failures.
type Failures struct {
	rooms *Rooms
}

// Of returns the resource because of which a registration failed, was skipped or was omitted: itself if it failed, "" if it was omitted
// because an expression of the program failed.
func (f *Failures) Of(u urn.URN) (cause urn.URN, ok bool) {
	if cause, ok = f.rooms.Results.failureOf(u); ok {
		return cause, true
	}
	return f.rooms.Omissions.causeOf(u)
}

// FirstCause returns the cause of the failures of some resources: the first by name, "" if the only cause is the program itself. failed reports
// whether any of them has failed.
func (f *Failures) FirstCause(us ...urn.URN) (cause urn.URN, failed bool) {
	for _, u := range us {
		c, ok := f.Of(u)
		failed = failed || ok
		if c != "" && (cause == "" || c < cause) {
			cause = c
		}
	}
	return cause, failed
}

// Any reports whether a registration failed, was skipped or was omitted.
func (f *Failures) Any() bool {
	return f.rooms.Results.haveFailures() || f.rooms.Omissions.areAny()
}

// Reply answers a registration of which a step has failed. It has the existing object: a resource that did not become
// healthy, and the ID of one that was to be updated.
func (f *Failures) Reply(b stages.Built) *stages.RegisterReply {
	reply := &stages.RegisterReply{URN: b.URN, Result: stages.Fail}
	for _, s := range f.rooms.Outcomes.stepsOf(b.Steps()) {
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

// DependencyOf returns the failed resource because of which a chain is not executed (steps.md 9.4). It considers the whole
// chain, so that a delete never runs without its create. A provider counts only if the named one is not recorded: then references
// to it could not be recorded either.
func (f *Failures) DependencyOf(b stages.Built) (urn.URN, bool) {
	if !f.rooms.ContinueOnError || !f.Any() {
		return "", false
	}
	var needs []urn.URN
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
			if ref.Kind == graph.Provider && f.rooms.Base.Providers[wanted.Provider] != nil {
				continue
			}
			needs = append(needs, ref.URN)
		}
	}
	return f.FirstCause(needs...)
}
