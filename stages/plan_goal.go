package stages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// holdToPlan compares a registration whose inputs have been checked with the plan (steps.md 12.3). What violates it goes no
// further, so that nobody is asked about it. Only of a registration that goes on with a recorded state build has to say so:
// it knows whether the resource is made anew, so that other inputs count.
func (r *Run) holdToPlan(c *Checked) error {
	if r.plans.held == nil || c.Goal == nil || c.answered {
		return nil
	}
	c.violation = r.violationOf(*c)
	if c.violation != nil && (c.Old == nil || c.Raw) {
		return r.bail(c.Located, 0, c.violation)
	}
	return nil
}

// holdImportToPlan does as much of it as is known before an object is imported: its inputs are not.
func (r *Run) holdImportToPlan(l Located) error {
	if r.plans.held == nil {
		return nil
	}
	planned := r.plans.held.Resources[l.URN]
	if planned == nil {
		was := ""
		if l.Old != nil {
			was = l.Old.ImportID
		}
		return r.bail(l, 0, l.violates(changed("importID", was, l.Goal.ImportID)))
	}
	if v := l.notDeleted(planned); v != nil {
		return r.bail(l, 0, v)
	}
	if d := changedOption(planned.Goal, l.Goal); d != nil {
		return r.bail(l, 0, l.violates(d))
	}
	return nil
}

func (l Located) violates(d *difference) *PlanViolation {
	return &PlanViolation{
		URN: l.URN, Rule: fmt.Sprintf("resource %s violates plan: %s", l.URN, d.text), Planned: d.planned, Now: d.now,
	}
}

func (l Located) notDeleted(planned *state.PlannedResource) *PlanViolation {
	if planned.Goal != nil {
		return nil
	}
	return l.violates(&difference{
		text: "resource unexpectedly not deleted", planned: orNothing(planned.Ops), now: "the program declares the resource",
	})
}

// violationOf returns the first violation of the plan by a registration's goal, nil if there is none. What the plan does not
// name must stay as it is recorded; if it is not recorded, its create will be refused.
func (r *Run) violationOf(c Checked) *PlanViolation {
	planned := r.plans.held.Resources[c.URN]
	var goal *state.PlannedGoal
	switch {
	case planned != nil:
		if v := c.notDeleted(planned); v != nil {
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
		d = r.changedProperties(r.formerInputs(c), c.accepted, goal.Inputs)
	}
	if d == nil {
		d = changedPropertyDependencies(goal, c.Goal)
	}
	if d == nil {
		return nil
	}
	return c.violates(d)
}

// unchangedGoal is the goal that leaves a recorded state as it is. What states do not record is not compared.
func unchangedGoal(l Located) *state.PlannedGoal {
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
func changedOption(p *state.PlannedGoal, g *Goal) *difference {
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
	case p.Protect != isTrue(g.Protect):
		return changed("protect", p.Protect, isTrue(g.Protect))
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

func changedPropertyDependencies(p *state.PlannedGoal, g *Goal) *difference {
	for _, name := range slices.Sorted(maps.Keys(p.PropertyDependencies)) {
		now, ok := g.PropertyDependencies[name]
		if !ok {
			continue // what was unknown may turn out not to be set
		}
		if d := changedSet("dependencies for "+name, p.PropertyDependencies[name], now); d != nil {
			return d
		}
	}
	return nil
}

// holdOutputs compares what a resource registers as outputs with the plan (steps.md 9.7).
func (r *Run) holdOutputs(s *Decision, outputs property.Map) *PlanViolation {
	if r.plans.held == nil {
		return nil
	}
	u := s.Declared
	planned := r.plans.held.Resources[u]
	if planned == nil || planned.Goal == nil {
		return &PlanViolation{
			URN: u, Rule: fmt.Sprintf("no plan for resource %v", u), Planned: "nothing: the plan does not declare the resource",
			Now: "the program registers outputs of it",
		}
	}
	d := r.changedProperties(r.recordedOutputs(s.URN), outputs, planned.Goal.Outputs)
	if d == nil {
		return nil
	}
	return &PlanViolation{URN: u, Rule: "resource violates plan: " + d.text, Planned: "outputs: " + d.planned, Now: "outputs: " + d.now}
}

func orNothing(ops []string) string {
	if len(ops) == 0 {
		return "nothing"
	}
	return strings.Join(ops, ", then ")
}
