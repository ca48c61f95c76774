package plan

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
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
	control     *control.Control
	rooms       *rooms.Rooms
	entropy     []byte
	seeds       func(urn.URN) []byte // of earlier runs; nil if there are none
	showSecrets bool

	held *state.Plan // nil allows everything
	// left are the planned steps that have not been matched, by the URN of the resource in the plan.
	left map[urn.URN][]string

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

func NewPlans(c *control.Control, b *rooms.Rooms, s stages.Settings) *Plans {
	p := &Plans{
		control: c, rooms: b, entropy: s.Entropy, seeds: s.Seeds, showSecrets: s.ShowSecrets,
		held: s.Plan, left: map[urn.URN][]string{}, making: s.MakePlan,
		goals: map[urn.URN]*state.PlannedResource{}, outputs: map[urn.URN]state.PlannedDiff{},
		uncertain: map[urn.URN]bool{},
		certain:   map[urn.URN]bool{},
	}
	if s.Plan != nil {
		for u, r := range s.Plan.Resources {
			p.left[u] = r.Ops
		}
	}
	return p
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

// braced returns a value in the text of a violation: {1}, {map[a:{x}]}, output<string>{} for an unknown one.
func (p *Plans) braced(v property.Value) string {
	text := p.bracedValue(v)
	if len(text) > bracedLimit {
		return strings.ToValidUTF8(text[:bracedLimit], "") + "…}"
	}
	return text
}

func (p *Plans) bracedValue(v property.Value) string {
	switch {
	case v.IsUnknown():
		return "output<string>{}"
	case v.IsSecret() && p.showSecrets:
		return p.bracedValue(v.AsSecret())
	case v.IsSecret():
		return "{[secret]}"
	case v.IsArray():
		var parts []string
		for _, e := range v.AsArray().All() {
			parts = append(parts, p.bracedValue(e))
		}
		return "{[" + strings.Join(parts, " ") + "]}"
	case v.IsMap():
		var parts []string
		for name, e := range v.AsMap().All() {
			parts = append(parts, name+":"+p.bracedValue(e))
		}
		return "{map[" + strings.Join(parts, " ") + "]}"
	case v.IsString():
		return "{" + v.AsString() + "}"
	case v.IsNumber():
		return fmt.Sprintf("{%v}", v.AsNumber())
	case v.IsBool():
		return fmt.Sprintf("{%v}", v.AsBool())
	case v.IsAsset():
		return "{asset " + v.AsAsset().Hash + "}"
	case v.IsArchive():
		return "{archive " + v.AsArchive().Hash + "}"
	case v.IsReference():
		return fmt.Sprintf("{%v}", v.AsReference().URN)
	}
	return "{<nil>}"
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

// markUncertain records whether the preview is certain about a registration, when it is decided.
func (p *Plans) markUncertain(d stages.Diffed) {
	if !p.dependsOnUnknown(d) {
		return
	}
	p.uncertain[d.URN] = true
	if d.Old != nil {
		p.uncertain[d.Old.URN] = true
	}
}

// MarkClosureUncertain records that the members of a closure are deleted only if the delete-before-replace happens, unless a certain one
// deletes them too.
func (p *Plans) MarkClosureUncertain(root stages.Diffed, members []closure.Member) {
	unknown := p.dependsOnUnknown(root)
	for _, m := range members {
		switch u := m.Res.URN; {
		case !unknown:
			p.certain[u] = true
			delete(p.uncertain, u)
		case !p.certain[u]:
			p.uncertain[u] = true
		}
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
		d = p.changedProperties(p.formerInputs(c), c.Accepted, goal.Inputs)
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
		CustomTimeouts: l.Old.CustomTimeouts,
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
	was, is := p.CustomTimeouts, g.CustomTimeouts
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
	d := p.changedProperties(p.rooms.RecordedOutputs(s.URN), outputs, planned.Goal.Outputs)
	if d == nil {
		return nil
	}
	return &stages.PlanViolation{URN: u, Rule: "resource violates plan: " + d.text, Planned: "outputs: " + d.planned, Now: "outputs: " + d.now}
}

func orNothing(ops []string) string {
	if len(ops) == 0 {
		return "nothing"
	}
	return strings.Join(ops, ", then ")
}

// changedProperties returns the properties that change otherwise than planned (steps.md 12.3), nil if there are none.
func (p *Plans) changedProperties(former, now property.Map, plan state.PlannedDiff) *difference {
	names := map[string]bool{}
	for _, m := range []property.Map{former, now, plan.Adds, plan.Updates} {
		for _, name := range m.Names() {
			names[name] = true
		}
	}
	for _, name := range plan.Deletes {
		names[name] = true
	}
	var texts, planned, actual []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := propertyChange{was: former.At(name), is: now.At(name)}
		c.plan(name, plan)
		if c.isPlanned() {
			continue
		}
		texts = append(texts, c.planned+c.actual()+name+p.sides(c))
		planned = append(planned, "`"+name+"` "+p.plannedSide(c))
		actual = append(actual, "`"+name+"` "+p.actualSide(c))
	}
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return &difference{
		text: "properties changed: " + strings.Join(texts, ", "), planned: strings.Join(planned, ", "), now: strings.Join(actual, ", "),
	}
}

// sides are the values of a violation: [planned!=actual].
func (p *Plans) sides(c propertyChange) string {
	var values []string
	for _, v := range []property.Value{c.expected, c.is} {
		if !v.IsNull() {
			values = append(values, p.braced(v))
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "[" + strings.Join(values, "!=") + "]"
}

func (p *Plans) plannedSide(c propertyChange) string {
	switch {
	case c.planned == propertyDeleted:
		return "is deleted"
	case c.planned == propertySame && c.was.IsNull():
		return "is not set"
	case c.planned == propertySame:
		return "stays " + p.braced(c.was)
	}
	return "becomes " + p.braced(c.expected)
}

func (p *Plans) actualSide(c propertyChange) string {
	if c.is.IsNull() {
		return "is not set"
	}
	return "is " + p.braced(c.is)
}

// isUncertain reports whether a planned replacement may turn out to be unnecessary. Pulumi's plans do not record that, but have the
// values that were unknown.
func (p *Plans) isUncertain(u urn.URN) bool {
	r := p.held.Resources[u]
	return r.Uncertain || r.Goal != nil && (r.Goal.Inputs.Adds.HasUnknowns() || r.Goal.Inputs.Updates.HasUnknowns())
}

// stepFor returns the place of the planned step that an actual step may replace, among the steps of a resource that are left; false
// if there is none. It is the next one, with two exceptions. The delete of an old copy may come before or after the steps of the
// resource's registration: nothing orders them. And if the replacement of the resource is uncertain, it may be replaced for a
// reason of its own, in another order, and the object may be deleted because it is not declared any more, or as the old copy that
// it was before.
func (p *Plans) stepFor(of urn.URN, d *stages.Decision) (int, bool) {
	left := p.left[of]
	if !p.isUncertain(of) {
		i := p.nextFor(of, d)
		return i, allows(left[i], d.Op) || isOldCopy(d.Old) && deletes(left[i]) && deletes(string(d.Op))
	}
	i := placeFor(left, d.Op)
	if i < 0 && d.Op == stages.OpDelete && p.held.Resources[of].Goal == nil {
		i = slices.Index(left, string(stages.OpDeleteReplaced))
	}
	if i < 0 && d.Op == stages.OpDeleteReplaced {
		i = slices.Index(left, string(stages.OpDelete))
	}
	return max(i, 0), i >= 0
}

// nextFor returns the place of the next planned step of the resource itself, or of one of its recorded old copies.
func (p *Plans) nextFor(of urn.URN, d *stages.Decision) int {
	left := p.left[of]
	if isOldCopy(d.Old) { // one of several may be discarded, because it was only read
		if i := slices.Index(left, string(d.Op)); i >= 0 {
			return i
		}
		return max(slices.IndexFunc(left, deletes), 0)
	}
	copies := 0
	for _, r := range p.rooms.Base.All[of] {
		if r.Delete {
			copies++
		}
	}
	last := 0
	for last < min(copies, len(left)-1) && deletes(left[last]) {
		last++
	}
	if i := placeFor(left[:last+1], d.Op); i >= 0 {
		return i
	}
	return last
}

// placeFor returns the first of the planned steps that an actual step may replace, or -1. A step of its own kind comes first, and
// one that deletes comes last: it may be the step of an old copy.
func placeFor(planned []string, actual stages.Op) int {
	if i := slices.Index(planned, string(actual)); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(planned, func(p string) bool { return allows(p, actual) && !deletes(p) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(planned, func(p string) bool { return allows(p, actual) })
}

func isOldCopy(r *state.Resource) bool { return r != nil && r.Delete }

// consumeSame consumes the next planned step of an imported resource if the imported object is as declared: that needs no step. A
// planned delete stays: it may be that of the object that the import replaced.
func (p *Plans) consumeSame(u urn.URN) {
	if left := p.left[u]; len(left) > 0 && !deletes(left[0]) && allows(left[0], stages.OpSame) {
		p.left[u] = left[1:]
	}
}

// consume removes the next planned step of a resource from the list. It returns the violation if the actual step is not allowed in
// its place; the planned one is consumed all the same. why is the reason if the step has none of its own.
func (p *Plans) consume(of urn.URN, s *stages.Decision, why stages.Reason) *stages.PlanViolation {
	if p.held == nil {
		return nil
	}
	if s.Reason.Kind != stages.ReasonNone {
		why = s.Reason
	}
	v := &stages.PlanViolation{URN: of, Now: string(s.Op)}
	if text := why.String(); text != "" {
		v.Now += " " + text
	}
	left, known := p.left[of]
	switch {
	case !known && s.Op == stages.OpSame:
		return nil
	case !known:
		v.Rule = fmt.Sprintf("%v is not allowed by the plan: no steps were expected for this resource", s.Op)
		v.Planned = "nothing: the plan does not name the resource"
		return v
	case len(left) == 0:
		v.Rule = fmt.Sprintf("%v is not allowed by the plan: no more steps were expected for this resource", s.Op)
		v.Planned = orNothing(p.held.Resources[of].Ops) + ", and no more"
		return v
	}
	i, ok := p.stepFor(of, s)
	p.left[of] = slices.Concat(left[:i], left[i+1:])
	if ok {
		return nil
	}
	v.Rule = fmt.Sprintf("%v is not allowed by the plan: this resource is constrained to %v", s.Op, left[i])
	v.Planned = orNothing(p.held.Resources[of].Ops)
	return v
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

// mayBeLeftOver reports whether the remaining planned steps of a resource are those of an uncertain replacement that turned out to
// be unnecessary. A resource that was to be declared must have been declared.
func (p *Plans) mayBeLeftOver(u urn.URN) bool {
	r, left := p.held.Resources[u], p.left[u]
	if !p.isUncertain(u) || r.Goal != nil && len(left) == len(r.Ops) {
		return false
	}
	return !slices.ContainsFunc(left, func(planned string) bool { return !replaces(planned) })
}

// CheckPlanFulfilled reports the planned steps that did not happen, once everything else has succeeded (steps.md 12.5). The delete
// of a resource that does not exist any more counts as unnecessary.
func (p *Plans) CheckPlanFulfilled() {
	if p.held == nil || p.control.IsHalted() || p.control.HasFailed() {
		return
	}
	for _, u := range slices.Sorted(maps.Keys(p.left)) {
		left := p.left[u]
		if len(left) == 0 || len(left) == 1 && stages.Op(left[0]) == stages.OpDelete && len(p.rooms.Base.All[u]) == 0 || p.mayBeLeftOver(u) {
			continue
		}
		v := &stages.PlanViolation{
			URN: u, Rule: fmt.Sprintf("expected resource operations for %v but none were seen", u),
			Planned: orNothing(p.held.Resources[u].Ops), Now: "nothing more happened to the resource",
		}
		if len(left) == len(p.held.Resources[u].Ops) {
			v.Now = "nothing happened to the resource"
		}
		p.control.Fail(0, u, stages.CodeFailed, v)
	}
}
