package operate

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// selection is what a preview would change, for a user who wants only a part of it.
type selection struct {
	parts []*part // in the order of the plan
	at    map[urn.URN]*part
	// early is true if targets are looked for before the program runs. A new resource is then chosen by a pattern, which need not match anything yet.
	early bool
	// uses has what each resource of the preview refers to, and usedBy the reverse.
	uses, usedBy map[urn.URN][]urn.URN
}

// part is a resource that changes, or a component that stays as it is and has such resources below it.
type part struct {
	urn     urn.URN
	former  urn.URN // its recorded URN, if it was found by an alias
	parent  urn.URN
	op      stages.Op // of the whole change; [stages.OpSame] for a component that stays
	isNew   bool      // it is not recorded yet
	removed bool      // it is not there afterwards
	cause   urn.URN   // the resource whose replacement replaces it too
	index   int       // in the parts of the selection
}

// newSelection returns the parts of a preview. A provider and the stack itself are part of every operation, so they are no parts, unless the provider
// is deleted.
func newSelection(steps []stages.StepInfo, refresh, early bool) *selection {
	s := &selection{early: early, at: map[urn.URN]*part{}, uses: map[urn.URN][]urn.URN{}, usedBy: map[urn.URN][]urn.URN{}}
	current := map[urn.URN]urn.URN{}
	for i := range steps {
		if former := steps[i].FormerURN(); former != "" {
			current[former] = steps[i].URN
		}
	}
	now := func(u urn.URN) urn.URN {
		if renamed := current[u]; renamed != "" {
			return renamed
		}
		return u
	}
	var all []*part
	for i := range steps {
		step := &steps[i]
		u := now(step.Resource())
		for _, r := range []*state.Resource{step.Old, step.New} {
			if r == nil {
				continue
			}
			for ref := range r.References() {
				s.uses[u], s.usedBy[now(ref.URN)] = append(s.uses[u], now(ref.URN)), append(s.usedBy[now(ref.URN)], u)
			}
		}
		if step.Internal || step.Reason.Kind == stages.ReasonView {
			continue
		}
		p := s.at[u]
		if p == nil {
			p = &part{urn: u, op: stages.OpSame, isNew: true}
			s.at[u], all = p, append(all, p)
		}
		p.add(step, refresh, now)
	}
	shown := map[*part]bool{}
	for _, p := range all {
		if p.op == stages.OpSame || p.urn.IsRootStack() || p.urn.Type().IsProvider() && !p.removed {
			continue
		}
		shown[p] = true
		for above := s.at[p.parent]; above != nil && !above.urn.IsRootStack(); above = s.at[above.parent] {
			shown[above] = true
		}
	}
	for _, p := range all {
		if shown[p] {
			p.index = len(s.parts)
			s.parts = append(s.parts, p)
		}
	}
	return s
}

// add adds a step to what happens to a resource.
func (p *part) add(step *stages.StepInfo, refresh bool, now func(urn.URN) urn.URN) {
	if step.Old != nil {
		p.isNew = false
		if p.parent = now(step.Old.Parent); step.Old.URN != p.urn {
			p.former = step.Old.URN
		}
	}
	if step.New != nil {
		p.parent = now(step.New.Parent)
	}
	switch step.Op {
	case stages.OpSame, stages.OpRead, stages.OpRemovePendingReplace:
		return
	case stages.OpRefresh:
		if !refresh {
			return
		}
	}
	op := step.Op.Whole()
	if p.op == stages.OpSame || op.Danger() < p.op.Danger() {
		p.op = op
	}
	p.removed = p.op == stages.OpDelete || p.op == stages.OpDiscard
	if op == stages.OpReplace && step.Reason.Cause != "" {
		p.cause = now(step.Reason.Cause)
	}
}

// changes returns how many of the parts change.
func (s *selection) changes() (n int) {
	for _, p := range s.parts {
		if p.op != stages.OpSame {
			n++
		}
	}
	return n
}

// items returns the parts as answers to a question.
func (s *selection) items() []terminal.Item {
	items := make([]terminal.Item, len(s.parts))
	for i, p := range s.parts {
		sign := display.Sign(p.op)
		if p.op == stages.OpSame {
			sign = ""
		}
		text := display.CleanLine(p.urn.Name()) + "  " + display.ShortType(p.urn.Type())
		for len(sign) < len("+-") {
			sign += " "
		}
		if p.op == stages.OpSame {
			text += " (what is in it)"
		}
		items[i] = terminal.Item{Name: p.urn.Name(), Text: sign + " " + text, Hidden: string(p.urn)}
	}
	return items
}

// newOnes returns the parts that are not recorded yet.
func (s *selection) newOnes() (list []int) {
	for i, p := range s.parts {
		if p.isNew && !p.removed && p.op != stages.OpSame {
			list = append(list, i)
		}
	}
	return list
}

// included returns parts and what an operation on them alone has to do, too: what is below them, the new resources that they refer to, the deletes
// of what depends on them, and the replacements that theirs cause.
func (s *selection) included(marked []int) []int {
	reached := map[urn.URN]bool{}
	return s.grow(marked, func(p *part, add func(*part)) {
		if p.op == stages.OpSame {
			return
		}
		for _, u := range s.uses[p.urn] {
			if q := s.at[u]; q != nil && q.isNew && !p.removed {
				add(q)
			}
		}
		s.walk(s.usedBy, p.urn, reached, func(q *part) {
			if q.removed {
				add(q)
			}
		})
		for _, q := range s.parts {
			if q.cause == p.urn {
				add(q)
			}
		}
	})
}

// excluded returns parts and what cannot be done without them: what is below them, what refers to those that would be new, and the deletes of
// what those that stay refer to.
func (s *selection) excluded(marked []int) []int {
	kept := map[urn.URN]bool{}
	return s.grow(marked, func(p *part, add func(*part)) {
		if p.isNew {
			for _, u := range s.usedBy[p.urn] {
				if q := s.at[u]; q != nil && !q.removed {
					add(q)
				}
			}
			return
		}
		s.walk(s.uses, p.urn, kept, func(q *part) {
			if q.removed {
				add(q)
			}
		})
	})
}

// grow returns parts, those below them, and the changing ones that follow adds for each of them in turn.
func (s *selection) grow(marked []int, follow func(p *part, add func(*part))) []int {
	set, todo := s.withInner(marked)
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		follow(p, func(q *part) {
			if q != nil && s.isPart(q) && q.op != stages.OpSame && !set[q] {
				set[q], todo = true, append(todo, q)
			}
		})
	}
	return s.indices(set)
}

// withInner returns parts with those below them, as a set and in the order of the plan.
func (s *selection) withInner(marked []int) (set map[*part]bool, list []*part) {
	set = map[*part]bool{}
	for _, i := range marked {
		set[s.parts[i]] = true
	}
	for _, p := range s.parts {
		for above := p; above != nil && !set[p]; above = s.at[above.parent] {
			set[p] = set[above]
		}
		if !set[p] {
			delete(set, p)
			continue
		}
		list = append(list, p)
	}
	return set, list
}

// walk calls visit for each resource that can be reached by edges and was not reached before.
func (s *selection) walk(edges map[urn.URN][]urn.URN, from urn.URN, reached map[urn.URN]bool, visit func(*part)) {
	for todo := []urn.URN{from}; len(todo) > 0; todo = todo[1:] {
		for _, u := range edges[todo[0]] {
			if reached[u] {
				continue
			}
			reached[u], todo = true, append(todo, u)
			if q := s.at[u]; q != nil {
				visit(q)
			}
		}
	}
}

func (s *selection) isPart(p *part) bool { return p.index < len(s.parts) && s.parts[p.index] == p }

func (s *selection) indices(set map[*part]bool) (list []int) {
	for i, p := range s.parts {
		if set[p] {
			list = append(list, i)
		}
	}
	return list
}

// anyPrefix makes a pattern of a URN that only this URN matches.
const anyPrefix = "**"

// urns returns the names by which the engine knows the changing ones of the parts.
func (s *selection) urns(list []int) (urns []string) {
	for _, i := range list {
		p := s.parts[i]
		if p.op == stages.OpSame {
			continue
		}
		name := string(p.urn)
		if s.early && p.isNew {
			name = anyPrefix + name
		}
		urns = append(urns, name)
		if p.former != "" {
			urns = append(urns, string(p.former))
		}
	}
	return urns
}

// without returns the parts that are not in a list.
func (s *selection) without(list []int) (rest []int) {
	for i := range s.parts {
		if !slices.Contains(list, i) {
			rest = append(rest, i)
		}
	}
	return rest
}

// name returns how to write a name of [selection.urns] on a command line: the shortest text that names no other resource.
func (s *selection) name(u string) string {
	name := urn.URN(u).Name()
	if name == "" || quoted(name) != name || urn.IsGlob(u) {
		return quoted(u)
	}
	for other, p := range s.at {
		if other.Name() == name && string(other) != u && string(p.former) != u {
			return quoted(u)
		}
	}
	return name
}

// quoted returns a text as a shell takes it.
func quoted(text string) string {
	if strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789._-") == "" && !strings.HasPrefix(text, "-") {
		return text
	}
	return urn.URN(text).ShellQuoted()
}
