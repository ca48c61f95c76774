package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Plans are the update plans of a run (steps.md 12): the one that restricts it, and the one that it makes. Build writes them while
// the pipeline runs, and the end phase afterwards; only the outputs have many writers.
type Plans struct {
	control     *control.Control
	rooms       *rooms.Rooms
	entropy     []byte
	showSecrets bool

	held *state.Plan // nil allows everything
	// left are the planned steps that have not been matched, by the URN of the resource in the plan.
	left map[urn.URN][]string

	making bool
	goals  map[urn.URN]*state.PlannedResource
	steps  []plannedStep
	// uncertain are the resources whose steps are uncertain in the preview, under all of their names.
	uncertain map[urn.URN]bool

	mu      sync.Mutex // guards outputs
	outputs map[urn.URN]state.PlannedDiff
}

// plannedStep is one step of the plan that is made. It is sorted by its number and place, so that the plan does not depend on the
// times of decisions.
type plannedStep struct {
	of         urn.URN
	op         stages.Op
	seq, place int
}

func NewPlans(c *control.Control, b *rooms.Rooms, s stages.Settings) *Plans {
	p := &Plans{
		control: c, rooms: b, entropy: s.Entropy, showSecrets: s.ShowSecrets,
		held: s.Plan, left: map[urn.URN][]string{}, making: s.MakePlan,
		goals: map[urn.URN]*state.PlannedResource{}, outputs: map[urn.URN]state.PlannedDiff{},
		uncertain: map[urn.URN]bool{},
	}
	if s.Plan != nil {
		for u, r := range s.Plan.Resources {
			p.left[u] = r.Ops
		}
	}
	return p
}

// SeedFor returns the random seed of a registration's Checks: that of the plan, so that random values are those of the preview,
// else one of the run's own (steps.md 3.5).
func (p *Plans) SeedFor(u urn.URN) []byte {
	if held := p.held; held != nil && held.Resources[u] != nil && len(held.Resources[u].Seed) > 0 {
		return held.Resources[u].Seed
	}
	return stages.Derive(p.entropy, string(u), "seed")
}

// formerInputs returns the inputs with which a plan compares those of a registration: none for an object that is created again
// (steps.md 12.2).
func (p *Plans) formerInputs(c stages.Checked) property.Map {
	if c.Raw || c.Old == nil || c.Old.External || c.Old.Taint || p.rooms.Targeting.Replace.Matches(c.URN) {
		return property.Map{}
	}
	return c.Old.Inputs
}

// Follow compares the steps of a registration with the plan, and adds them to the plan that is made. It is called in the order of
// decisions, so that a dependent's delete comes before the steps of its own registration (ORD-11).
func (p *Plans) Follow(d stages.Diffed, steps []*stages.Decision) error {
	p.markUncertain(d)
	if d.Goal == nil || d.Course == stages.ImportFailed || p.held == nil && !p.making {
		return nil
	}
	if p.making {
		p.goals[d.URN] = &state.PlannedResource{Goal: plannedGoal(d, p.plannedInputs(d)), Seed: p.SeedFor(d.URN)}
	}
	if d.Origin == stages.FromImport && len(steps) == 0 {
		p.consumeSame(d.URN)
	}
	for i, s := range steps {
		of, ok := plannedAs(d, s)
		if !ok {
			continue
		}
		if v := p.consume(of, s, d.Reason); v != nil {
			return p.control.Bail(d.Located, 0, v)
		}
		p.note(plannedStep{of: of, op: s.Op, seq: d.Seq, place: i})
	}
	return nil
}

// plannedAs returns the resource of a plan to which one of the registration's steps belongs. Same steps of other resources belong
// to none: they only carry states forward, and whether there are any may depend on the order of arrival.
func plannedAs(d stages.Diffed, s *stages.Decision) (urn.URN, bool) {
	switch {
	case s.Answers, s.New != nil && s.New.URN == d.URN, s.New == nil && s.Old == d.Old:
		return d.URN, true // under its new name
	case s.Op == stages.OpSame:
		return "", false
	}
	return s.URN, true
}

// plannedInputs returns how the inputs of a registration change. For an object that is created again it has both the inputs of the
// new object and those that the recorded one lacks: it may turn out that it can stay.
func (p *Plans) plannedInputs(d stages.Diffed) state.PlannedDiff {
	inputs := d.Accepted
	if p.uncertain[d.URN] && p.rooms.Decisions.IsDeletedByClosure(d.Claimed) {
		inputs = eitherInputs(d)
	}
	out := state.NewPlannedDiff(p.formerInputs(d.Checked), inputs)
	if d.Raw && d.Old != nil {
		out.Deletes = state.NewPlannedDiff(d.Old.Inputs, inputs).Deletes
	}
	return out
}

func plannedGoal(d stages.Diffed, inputs state.PlannedDiff) *state.PlannedGoal {
	g := d.Goal
	return &state.PlannedGoal{
		Type: g.Type, Name: g.Name, Custom: g.Custom, Inputs: inputs, Parent: g.Parent,
		Protect: g.IsProtected(), Dependencies: g.Dependencies, Provider: g.Provider, PropertyDependencies: g.PropertyDependencies,
		DeleteBeforeReplace: g.DeleteBeforeReplace, IgnoreChanges: g.IgnoreChanges,
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, Aliases: g.Aliases, ImportID: g.ImportID, CustomTimeouts: g.CustomTimeouts,
	}
}

func (p *Plans) note(s plannedStep) {
	if p.making {
		p.steps = append(p.steps, s)
	}
}

// FollowAtEnd is Follow for the end phase: first the states that stay, then the deletes, in base order. It returns false if the
// plan is violated and the run has stopped.
func (p *Plans) FollowAtEnd(staying []*stages.Decision, deletes map[graph.ID]*stages.Decision) bool {
	all := slices.Clone(staying)
	for _, id := range slices.Sorted(maps.Keys(deletes)) {
		all = append(all, deletes[id])
	}
	for i, s := range all {
		if v := p.consume(s.URN, s, s.Reason); v != nil {
			_ = p.control.Bail(stages.Located{URN: s.URN}, 0, v)
			return false
		}
		p.note(plannedStep{of: s.URN, op: s.Op, seq: math.MaxInt, place: i})
	}
	return true
}

// NoteOutputs records the outputs that a resource registers.
func (p *Plans) NoteOutputs(s *stages.Decision, outputs property.Map) {
	if !p.making {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outputs[s.Declared] = state.NewPlannedDiff(p.rooms.RecordedOutputs(s.URN), outputs)
}

// Planned returns the plan that the run has made, by resource; nil if it was not to make one. It is called when the run is over.
func (p *Plans) Planned() map[urn.URN]*state.PlannedResource {
	if !p.making {
		return nil
	}
	for u, planned := range p.goals {
		planned.Goal.Outputs = p.outputs[u]
		if s := p.rooms.Results.Made(u); s != nil {
			planned.Outputs = &s.Outputs
		}
	}
	slices.SortStableFunc(p.steps, func(a, b plannedStep) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.place, b.place))
	})
	for _, s := range p.steps {
		if p.goals[s.of] == nil {
			p.goals[s.of] = &state.PlannedResource{} // it is only deleted, or stays
		}
		p.goals[s.of].Ops = append(p.goals[s.of].Ops, string(s.op))
	}
	for u, planned := range p.goals {
		planned.Uncertain = p.uncertain[u] && slices.ContainsFunc(planned.Ops, replaces)
	}
	return p.goals
}
