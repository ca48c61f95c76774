package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// HoldToPlan compares a registration with the plan, after its inputs have been checked (steps.md 12.3). A registration that
// violates it goes no further, so that no provider is called for it. If it continues a recorded state, build reports the violation:
// only build decides whether the resource is created again, so that other inputs count.
func (p *Plans) HoldToPlan(c *stages.Checked) error {
	if p.held == nil || c.Goal == nil || c.Course == stages.ImportFailed {
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

// isProviderPlanned compares provider references. The ID of a provider that was to be created was not known.
func isProviderPlanned(planned, actual string) bool {
	if planned == actual {
		return true
	}
	was, err := urn.ParseProviderRef(planned)
	if err != nil {
		return false
	}
	is, err := urn.ParseProviderRef(actual)
	return err == nil && was.URN == is.URN && was.ID == urn.UnknownID
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
