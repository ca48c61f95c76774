package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Plans are the update plans of a run (steps.md 12): the one that restricts it, and the one that it makes. Build writes them while
// the pipeline runs, and the end phase afterwards; only the outputs have many writers.
type Plans struct {
	control *control.Control
	rooms   *rooms.Rooms
	entropy []byte
	seeds   func(urn.URN) []byte // of earlier runs; nil if there are none
	wording wording

	held   *state.Plan // nil allows everything
	ledger ledger      // of the steps that are held to it

	making bool
	goals  map[urn.URN]*state.PlannedResource
	steps  []plannedStep
	// uncertain are the resources whose steps are uncertain in the preview, under all of their names.
	uncertain map[urn.URN]bool
	certain   map[urn.URN]bool // the members of certain closures

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

// NewPlans returns the plans of a run: the one that its steps are held to, if there is one, and the one that it makes, if the settings ask for one.
func NewPlans(c *control.Control, b *rooms.Rooms, s stages.Settings) *Plans {
	return &Plans{
		control: c, rooms: b, entropy: s.Entropy, seeds: s.Seeds, wording: wording{s.ShowSecrets},
		held: s.Plan, ledger: newLedger(s.Plan, b), making: s.MakePlan,
		goals: map[urn.URN]*state.PlannedResource{}, outputs: map[urn.URN]state.PlannedDiff{},
		uncertain: map[urn.URN]bool{},
		certain:   map[urn.URN]bool{},
	}
}

// SeedFor returns the random seed of a registration's Checks: that of the plan, so that random values are those of the preview,
// else that of the last check when nothing had changed, else one of the run's own (steps.md 3.5).
func (p *Plans) SeedFor(u urn.URN) []byte {
	if held := p.held; held != nil && held.Resources[u] != nil && len(held.Resources[u].Seed) > 0 {
		return held.Resources[u].Seed
	}
	if p.seeds != nil {
		if seed := p.seeds(u); len(seed) > 0 {
			return seed
		}
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
	if d.Goal == nil || d.Course.HasFailed() || p.held == nil && !p.making {
		return nil
	}
	if p.making {
		p.goals[d.URN] = &state.PlannedResource{Goal: plannedGoal(d, p.plannedInputs(d)), Seed: p.SeedFor(d.URN)}
	}
	if d.Origin == stages.FromImport && len(steps) == 0 {
		p.ledger.consumeSame(d.URN)
	}
	for i, s := range steps {
		of, ok := plannedAs(d, s)
		if !ok {
			continue
		}
		if v := p.ledger.consume(of, s, d.Reason); v != nil {
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
		AdditionalSecretOutputs: g.AdditionalSecretOutputs, Aliases: g.Aliases, ImportID: g.ImportID, CustomTimeouts: g.CustomTimeouts.Value(),
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
		if v := p.ledger.consume(s.URN, s, s.Reason); v != nil {
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

// dependsOnUnknown reports whether the step for the resource of a registration is uncertain in the preview, because of unknown
// values or because of another such resource.
func (p *Plans) dependsOnUnknown(d stages.Diffed) bool {
	switch {
	case !p.making || d.Course.HasFailed():
		return false
	case d.Read != nil:
		return d.Read.ID.HasUnknowns()
	case d.Goal == nil:
		return false
	}
	return d.Accepted.HasUnknowns() || d.Inputs.HasUnknowns() || d.Goal.ReplacementTrigger.HasUnknowns() || p.uncertain[d.Reason.Cause]
}

// markUncertain records whether the preview is certain about a registration, when it is decided. A resource that a certain delete-before-replace
// deletes is certainly replaced, whatever its inputs.
func (p *Plans) markUncertain(d stages.Diffed) {
	if !p.dependsOnUnknown(d) {
		return
	}
	p.doubt(d.URN)
	if d.Old != nil {
		p.doubt(d.Old.URN)
	}
}

func (p *Plans) doubt(u urn.URN) {
	if !p.certain[u] {
		p.uncertain[u] = true
	}
}

// MarkClosureUncertain records that the members of a closure are deleted only if the delete-before-replace happens, unless a certain one
// deletes them too.
func (p *Plans) MarkClosureUncertain(root stages.Diffed, members []closure.Member) {
	unknown := p.dependsOnUnknown(root)
	for _, m := range members {
		u := m.Res.URN
		if unknown {
			p.doubt(u)
			continue
		}
		p.certain[u] = true
		delete(p.uncertain, u)
	}
}

// HoldToPlan compares a registration with the plan, after its inputs have been checked (steps.md 12.3). A registration that
// violates it goes no further, so that no provider is called for it. If it continues a recorded state, build reports the violation:
// only build decides whether the resource is created again, so that other inputs count.
func (p *Plans) HoldToPlan(c *stages.Checked) error {
	if p.held == nil || c.Goal == nil || c.Course.HasFailed() {
		return nil
	}
	c.Violation = p.violationOf(*c)
	if c.Violation != nil && (c.Old == nil || c.Raw) {
		return p.control.Bail(c.Located, 0, c.Violation)
	}
	return nil
}

// HoldImportToPlan compares the goal before an object is imported: everything but its inputs.
func (p *Plans) HoldImportToPlan(l stages.Located) error {
	if p.held == nil {
		return nil
	}
	planned := p.held.Resources[l.URN]
	if planned == nil {
		was := ""
		if l.Old != nil {
			was = l.Old.ImportID
		}
		return p.control.Bail(l, 0, violates(l, changed("importID", was, l.Goal.ImportID)))
	}
	if v := notDeleted(l, planned); v != nil {
		return p.control.Bail(l, 0, v)
	}
	if d := changedOption(planned.Goal, l.Goal); d != nil {
		return p.control.Bail(l, 0, violates(l, d))
	}
	return nil
}

func violates(l stages.Located, d *difference) *stages.PlanViolation {
	return &stages.PlanViolation{
		URN: l.URN, Rule: fmt.Sprintf("resource %s violates plan: %s", l.URN, d.text), Planned: d.planned, Now: d.now,
	}
}

func notDeleted(l stages.Located, planned *state.PlannedResource) *stages.PlanViolation {
	if planned.Goal != nil {
		return nil
	}
	return violates(l, &difference{
		text: "resource unexpectedly not deleted", planned: orNothing(planned.Ops), now: "the program declares the resource",
	})
}

// violationOf returns the first violation of the plan by a registration's goal, nil if there is none. A resource that the plan does
// not name must stay as it is recorded; if it is not recorded, its create will be refused.
func (p *Plans) violationOf(c stages.Checked) *stages.PlanViolation {
	planned := p.held.Resources[c.URN]
	var goal *state.PlannedGoal
	switch {
	case planned != nil:
		if v := notDeleted(c.Located, planned); v != nil {
			return v
		}
		goal = planned.Goal
	case c.Old == nil:
		return nil
	default:
		goal = unchangedGoal(c.Located)
	}
	d := changedOption(goal, c.Goal)
	if d == nil {
		d = p.wording.changedProperties(p.formerInputs(c), c.Accepted, goal.Inputs)
	}
	if d == nil {
		d = changedPropertyDependencies(goal, c.Goal)
	}
	if d == nil {
		return nil
	}
	return violates(c.Located, d)
}

// unchangedGoal is the goal that leaves a recorded state as it is. Options that states do not record are not compared.
func unchangedGoal(l stages.Located) *state.PlannedGoal {
	g := &state.PlannedGoal{
		Custom: l.Old.Custom, Parent: l.Old.Parent, Protect: l.Old.Protect, Dependencies: l.Old.Dependencies, Provider: l.Old.Provider,
		PropertyDependencies: l.Old.PropertyDependencies, DeleteBeforeReplace: l.Goal.DeleteBeforeReplace,
		IgnoreChanges: l.Old.IgnoreChanges, AdditionalSecretOutputs: l.Old.AdditionalSecretOutputs, ImportID: l.Old.ImportID,
		CustomTimeouts: l.Old.CustomTimeouts.Value(),
	}
	if l.Alias == "" {
		g.Aliases = l.Goal.Aliases
	}
	return g
}

// changedOption returns the first option that is not as planned (steps.md 12.3 points 2 to 5).
func changedOption(p *state.PlannedGoal, g *stages.Goal) *difference {
	kind := map[bool]string{true: "custom", false: "component"}
	dbr := func(b *bool) string {
		if b == nil {
			return "no value"
		}
		return fmt.Sprint(*b)
	}
	was, is := p.CustomTimeouts, g.CustomTimeouts.Value()
	switch {
	case p.Custom != g.Custom:
		return changed("resource kind", kind[p.Custom], kind[g.Custom])
	case !isProviderPlanned(p.Provider, g.Provider):
		return changed("provider", p.Provider, g.Provider)
	case p.Parent != g.Parent:
		return changed("parent", p.Parent, g.Parent)
	case p.Protect != g.IsProtected():
		return changed("protect", p.Protect, g.IsProtected())
	case dbr(p.DeleteBeforeReplace) != dbr(g.DeleteBeforeReplace):
		return changed("deleteBeforeReplace", dbr(p.DeleteBeforeReplace), dbr(g.DeleteBeforeReplace))
	case p.ImportID != g.ImportID:
		return changed("importID", p.ImportID, g.ImportID)
	case was.Create != is.Create:
		return changed("create timeout", was.Create, is.Create)
	case was.Update != is.Update:
		return changed("update timeout", was.Update, is.Update)
	case was.Delete != is.Delete:
		return changed("delete timeout", was.Delete, is.Delete)
	case was.Read != is.Read:
		return changed("read timeout", was.Read, is.Read)
	}
	return cmp.Or(
		changedSet("ignoreChanges", p.IgnoreChanges, g.IgnoreChanges),
		changedSet("additionalSecretOutputs", p.AdditionalSecretOutputs, g.AdditionalSecretOutputs),
		changedSet("dependencies", p.Dependencies, g.Dependencies),
		changedSet("aliases", aliasTexts(p.Aliases), aliasTexts(g.Aliases)),
	)
}

func aliasTexts(as []urn.Alias) []string {
	var out []string
	for _, a := range as {
		if a.URN != "" {
			out = append(out, string(a.URN))
			continue
		}
		out = append(out, fmt.Sprintf("%+v", a))
	}
	return out
}

func changedPropertyDependencies(p *state.PlannedGoal, g *stages.Goal) *difference {
	for _, name := range slices.Sorted(maps.Keys(p.PropertyDependencies)) {
		now, ok := g.PropertyDependencies[name]
		if !ok {
			continue // an unknown value may turn out not to be set
		}
		if d := changedSet("dependencies for "+name, p.PropertyDependencies[name], now); d != nil {
			return d
		}
	}
	return nil
}

// HoldOutputs compares the outputs that a resource registers with the plan (steps.md 9.7).
func (p *Plans) HoldOutputs(s *stages.Decision, outputs property.Map) *stages.PlanViolation {
	if p.held == nil {
		return nil
	}
	u := s.Declared
	planned := p.held.Resources[u]
	if planned == nil || planned.Goal == nil {
		return &stages.PlanViolation{
			URN: u, Rule: fmt.Sprintf("no plan for resource %v", u), Planned: "nothing: the plan does not declare the resource",
			Now: "the program registers outputs of it",
		}
	}
	d := p.wording.changedProperties(p.rooms.RecordedOutputs(s.URN), outputs, planned.Goal.Outputs)
	if d == nil {
		return nil
	}
	return &stages.PlanViolation{URN: u, Rule: "resource violates plan: " + d.text, Planned: "outputs: " + d.planned, Now: "outputs: " + d.now}
}

// HoldAnew is HoldToPlan for a member of a closure, deleted by a delete-before-replace, that the program declares again.
func (p *Plans) HoldAnew(d stages.Diffed) error {
	if p.held == nil {
		return nil
	}
	if v := p.violationOf(d.Checked); v != nil {
		return p.control.Bail(d.Located, 0, v)
	}
	return nil
}

// CheckPlanFulfilled reports the planned steps that did not happen, once everything else has succeeded (steps.md 12.5). The delete
// of a resource that does not exist any more counts as unnecessary.
func (p *Plans) CheckPlanFulfilled() {
	if p.held == nil || p.control.IsHalted() || p.control.HasFailed() {
		return
	}
	for _, v := range p.ledger.open() {
		p.control.Fail(0, v.URN, stages.CodeFailed, v)
	}
}
