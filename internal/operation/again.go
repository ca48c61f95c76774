package operation

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// again is what the attempts of an operation before the present one have done. An operation begins again when state migrations of its program have changed
// the recorded state, because the base of a run does not change (decision 0280). Its methods accept nil, which is no attempt.
type again struct {
	attempts int              // before the present one
	changed  map[urn.URN]bool // the resources whose migrations have changed the state
	err      error            // of making the changes
	dryRun   bool
	shown    map[urn.URN]stages.Op // the last step of each resource
	results  []standard.Results
	record   *record // nil in previews
}

// beginAgain ends an attempt, and makes the changes of the recorded state that it has found. An error is one of the next attempt.
func beginAgain(ctx context.Context, o *opened, s *resolved, r ran, found []*migration.Migration) {
	e := end(ctx, s, r)
	next := &again{changed: map[urn.URN]bool{}, dryRun: o.settings.Stages.Info.DryRun, shown: map[urn.URN]stages.Op{}}
	if o.again != nil {
		*next = *o.again
		next.changed, next.shown = maps.Clone(next.changed), maps.Clone(next.shown)
	}
	next.attempts++
	next.record, s.record = s.record, nil // it goes on
	next.err = errors.Join(slices.Concat(e.errs, s.closeAll(context.WithoutCancel(ctx), e))...)
	done := s.run.Results()
	for _, step := range done.Steps() {
		next.shown[step.URN] = step.Op
	}
	if next.results = slices.Clip(next.results); !next.dryRun {
		next.results = append(next.results, done)
	}
	o.again = next
	o.start(ctx)
	o.events.continueAfter(next)
	for _, m := range found {
		next.changed[m.Resource()] = true
	}
	if next.err == nil {
		next.err = change(context.WithoutCancel(ctx), o, s.run.Base(), found)
	}
}

// change makes the changes in the present state, and records the result before anything else. In a preview the present state is base.
func change(ctx context.Context, o *opened, base *state.Snapshot, found []*migration.Migration) (err error) {
	recorder := o.again.record
	if recorder != nil {
		if base, err = recorder.Snapshot(); err != nil {
			return err
		}
	}
	for _, m := range found {
		if base, err = m.Apply(ctx, base); err != nil {
			return err
		}
	}
	o.events.masks.learnSnapshot(base)
	if recorder != nil {
		if err := recorder.Rebase(ctx, base); err != nil {
			return fmt.Errorf("recording the state migrations: %w", err)
		}
	}
	o.base = base
	for _, m := range found {
		o.events.show(stages.LogMessage{Severity: stages.Info, URN: m.Resource(), Message: describe(m)})
	}
	return nil
}

// describe says which recorded states a migration changes.
func describe(m *migration.Migration) string {
	var lines []string
	came := map[urn.URN]bool{}
	for _, u := range m.Before() {
		next := m.Successor(u)
		came[next] = true
		if next != u {
			lines = append(lines, string(u)+" becomes "+string(next))
		}
	}
	for _, u := range m.After() {
		if !came[u] {
			lines = append(lines, string(u)+" is new in the state")
		}
	}
	if len(lines) == 0 {
		return "state migration: the recorded state is changed; the program runs again with it"
	}
	return "state migration: the recorded state is changed; the program runs again with it:\n  " + strings.Join(lines, "\n  ")
}

// preparation returns how the base is brought up to date. Later attempts have it from the first one.
func (a *again) preparation(s *Settings) standard.Preparation {
	if a != nil {
		return standard.Preparation{}
	}
	return standard.Preparation{Reads: s.reads(), Resolve: s.ResolveCreate}
}

// recording returns the record of the operation, which is not open before the first attempt.
func (a *again) recording() *record {
	if a == nil {
		return &record{}
	}
	return a.record
}

func (a *again) failure() error {
	if a == nil {
		return nil
	}
	return a.err
}

// number returns the number of the attempt, from 0.
func (a *again) number() int {
	if a == nil {
		return 0
	}
	return a.attempts
}

func (a *again) migrated() map[urn.URN]bool {
	if a == nil {
		return nil
	}
	return a.changed
}

// wasShown reports whether an event repeats one of an earlier attempt: the same step, or in an update that a resource is unchanged after an earlier step.
func (a *again) wasShown(ev stages.Event) bool {
	if a == nil {
		return false
	}
	switch ev := ev.(type) {
	case stages.StepStarted:
		return a.repeats(ev.Step)
	case stages.StepDone:
		return a.repeats(ev.Step)
	}
	return false
}

// maxSaid is how many messages are known to later attempts.
const maxSaid = 4096

// said are the messages of an operation, as hashes, with the attempts that have shown them. A program that runs again writes the same ones, and they
// are shown once.
type said struct {
	seed  maphash.Seed
	known map[uint64]int
}

// repeats reports whether an event is a message that an attempt before the given one has shown. It remembers other messages.
func (s *said) repeats(ev stages.Event, attempt int) bool {
	var text string
	switch ev := ev.(type) {
	case stages.Diagnostic:
		text = fmt.Sprintf("%s\x00%d\x00%s", ev.URN, ev.Severity, ev.Message)
	case stages.PolicyViolation, stages.PolicyRemediation:
		text = fmt.Sprintf("%T %+v", ev, ev)
	case stages.Stdout:
		text = ev.Message
	default:
		return false
	}
	if s.known == nil {
		s.seed, s.known = maphash.MakeSeed(), map[uint64]int{}
	}
	key := maphash.String(s.seed, text)
	by, known := s.known[key]
	if !known && len(s.known) < maxSaid {
		s.known[key] = attempt
	}
	return known && by < attempt
}

func (a *again) repeats(s stages.StepInfo) bool {
	op, known := a.shown[s.URN]
	return known && (op == s.Op || !a.dryRun && s.Op == stages.OpSame)
}

// merge returns the results of all attempts. In an update, what an earlier attempt has changed is not counted once more as unchanged. A preview has changed
// nothing, and its last attempt has all results.
func (a *again) merge(last standard.Results) standard.Results {
	if a == nil || len(a.results) == 0 {
		return last
	}
	changed := map[urn.URN]bool{}
	var steps []stages.StepInfo
	var decided []stages.Decided
	out := last
	out.Changes = maps.Clone(last.Changes)
	for _, r := range a.results {
		for _, s := range r.Steps() {
			if s.Op != stages.OpSame {
				steps = append(steps, s)
				changed[s.URN] = true
			}
		}
		for _, d := range r.Decided() {
			if changed[d.URN] {
				decided = append(decided, d)
			}
		}
		for op, n := range r.Changes {
			if op != stages.OpSame {
				out.Changes[op] += n
			}
		}
		out.Uncertain = out.Uncertain || r.Uncertain
		out.Resolved = append(slices.Clone(r.Resolved), out.Resolved...)
	}
	out.OldOutputs = a.results[0].OldOutputs
	for _, s := range last.Steps() {
		switch {
		case s.Op != stages.OpSame || !changed[s.URN]:
			steps = append(steps, s)
		case !s.Internal:
			out.Changes[stages.OpSame]--
		}
	}
	for _, d := range last.Decided() {
		if d.Op != stages.OpSame || !changed[d.URN] {
			decided = append(decided, d)
		}
	}
	out.Steps = func() []stages.StepInfo { return steps }
	out.Decided = func() []stages.Decided { return decided }
	return out
}
