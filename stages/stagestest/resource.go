package stagestest

import (
	"cmp"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Stack and Project are those of all items.
const Stack, Project = "dev", "shop"

// Resource describes a registration, and makes the items of all slots from it. The zero value is a new resource that a provider
// manages. Each method makes a new item, and may be called any number of times.
type Resource struct {
	Name   string   // "thing" when empty
	Type   urn.Type // "test:index:Thing" when empty
	Seq    int      // 1 when 0
	Inputs property.Map
	// Recorded is true for a resource that has a recorded state, whose inputs are Was.
	Recorded bool
	Was      property.Map
	// Replaces is true if the change of a recorded resource needs a replacement.
	Replaces bool
	// Component is true for a resource without a provider.
	Component bool
	Course    stages.Course
	// Change changes the goal before it is used; nil changes nothing.
	Change func(*stages.Goal)
	// Err is the error of the steps, for Executed and Deleted.
	Err error
}

// URN returns the name of the resource.
func (r Resource) URN() urn.URN { return urn.New(Stack, Project, "", r.typ(), r.name()) }

func (r Resource) name() string  { return cmp.Or(r.Name, "thing") }
func (r Resource) typ() urn.Type { return cmp.Or(r.Type, "test:index:Thing") }

// Old returns the recorded state, nil for a resource that is new.
func (r Resource) Old() *state.Resource {
	if !r.Recorded {
		return nil
	}
	s := &state.Resource{URN: r.URN(), Type: r.typ(), Custom: !r.Component, Inputs: r.Was, Outputs: r.Was}
	if s.Custom {
		s.ID, s.Provider = "id-of-"+r.name(), provider
	}
	return s
}

const provider = "urn:pulumi:dev::shop::pulumi:providers:test::default::id-of-default"

// Goal returns the goal that the program declares.
func (r Resource) Goal() *stages.Goal {
	g := &stages.Goal{Type: r.typ(), Name: r.name(), Custom: !r.Component, Inputs: r.Inputs}
	if g.IsManaged() {
		g.Provider = provider
	}
	if r.Change != nil {
		r.Change(g)
	}
	return g
}

// Registered returns the item of the slot behind register.
func (r Resource) Registered() stages.Registered {
	return stages.Registered{PendingReply: stages.NewPendingReply(true), Goal: r.Goal()}
}

// Located returns the item of the slot behind lookup.
func (r Resource) Located() stages.Located {
	old := r.Old()
	return stages.Located{Registered: r.Registered(), Seq: cmp.Or(r.Seq, 1), URN: r.URN(), Old: old, Claimed: old, Course: r.Course}
}

// Checked returns the item of the slot behind check: the provider has accepted the inputs as they are.
func (r Resource) Checked() stages.Checked {
	return stages.Checked{Located: r.Located(), Inputs: r.Inputs, Accepted: r.Inputs, Raw: !r.Recorded, Seed: make([]byte, 32)}
}

// Analyzed returns the item of the slot behind analyze: there are no violations.
func (r Resource) Analyzed() stages.Analyzed { return stages.Analyzed{Checked: r.Checked()} }

// Diffed returns the item of the slot behind diff. Inputs and Was have been compared.
func (r Resource) Diffed() stages.Diffed {
	d := stages.Diffed{Analyzed: r.Analyzed(), Reason: stages.Reason{Kind: stages.ReasonNew}}
	if !r.Recorded {
		return d
	}
	d.Compared, d.Reason.Kind, d.Diff.Changes = true, stages.ReasonUnchanged, providers.DiffNone
	if keys := r.changed(); len(keys) > 0 || r.Replaces {
		d.Diff.Changes, d.Diff.ChangedKeys = providers.DiffSome, keys
		d.Reason, d.By = stages.Reason{Kind: stages.ReasonInputs, Properties: keys, By: stages.ByDiff}, stages.ByDiff
	}
	if r.Replaces {
		inputs := r.Inputs
		d.MustReplace, d.Rechecked, d.Diff.ReplaceKeys = true, &inputs, d.Diff.ChangedKeys
	}
	return d
}

// changed returns the names of the inputs that have changed.
func (r Resource) changed() (keys []string) {
	for name, v := range r.Inputs.All() {
		if old, ok := r.Was.Get(name); !ok || !property.Equal(v, old) {
			keys = append(keys, name)
		}
	}
	for name := range r.Was.All() {
		if _, ok := r.Inputs.Get(name); !ok {
			keys = append(keys, name)
		}
	}
	return keys
}

// Built returns the item of the slot behind build, with the steps that follow from the comparison. A replacement creates first.
func (r Resource) Built() stages.Built {
	return stages.Built{Located: r.Located(), Tasks: []stages.Task{{Steps: r.steps()}}}
}

func (r Resource) steps() []*stages.Decision {
	d := r.Diffed()
	step := func(op stages.Op, old, now *state.Resource) *stages.Decision {
		return &stages.Decision{
			StepInfo: stages.StepInfo{
				Op: op, URN: r.URN(), Type: r.typ(), Old: old, New: now, Diffs: d.Diff.ChangedKeys, Keys: d.Diff.ReplaceKeys, Provider: provider, Reason: d.Reason,
			},
			Rank: stages.Rank{Seq: d.Seq}, Declared: r.URN(),
		}
	}
	now := &state.Resource{URN: r.URN(), Type: r.typ(), Custom: !r.Component, Inputs: r.Inputs}
	if now.Custom {
		now.Provider = provider
	}
	var steps []*stages.Decision
	switch {
	case !r.Recorded:
		steps = []*stages.Decision{step(stages.OpCreate, nil, now)}
	case r.Replaces:
		steps = []*stages.Decision{step(stages.OpCreateReplacement, d.Old, now), step(stages.OpReplace, d.Old, now)}
	case d.Diff.Changes == providers.DiffSome:
		steps = []*stages.Decision{step(stages.OpUpdate, d.Old, now)}
	default:
		steps = []*stages.Decision{step(stages.OpSame, d.Old, now)}
	}
	for place, s := range steps {
		s.Place = place
	}
	steps[len(steps)-1].Answers = true
	return steps
}

// Executed returns the item of the slot behind execute.
func (r Resource) Executed() stages.Executed {
	return stages.Executed{Seq: cmp.Or(r.Seq, 1), URN: r.URN(), Steps: r.steps(), Err: r.Err}
}

// Deleting returns the delete of the recorded resource, which the program does not declare any more, or whose new object exists if
// it Replaces.
func (r Resource) Deleting() stages.Deleting {
	r.Recorded = true
	d := stages.Deleting{
		Op: stages.OpDelete, URN: r.URN(), Old: r.Old(), Reason: stages.Reason{Kind: stages.ReasonNotInProgram}, Seq: cmp.Or(r.Seq, stages.EndPhaseSeq),
	}
	if r.Replaces {
		d.Op, d.Reason.Kind = stages.OpDeleteReplaced, stages.ReasonReplaced
	}
	return d
}

// Deleted returns the delete after it has ended.
func (r Resource) Deleted() stages.Deleted { return stages.Deleted{Deleting: r.Deleting(), Err: r.Err} }

// item returns the item for a slot.
func (r Resource) item(slot string) any {
	switch slot {
	case "Registered":
		return r.Registered()
	case "Located":
		return r.Located()
	case "Checked":
		return r.Checked()
	case "Analyzed":
		return r.Analyzed()
	case "Diffed":
		return r.Diffed()
	case "Built":
		return r.Built()
	case "Executed":
		return r.Executed()
	case "Deleting":
		return r.Deleting()
	}
	return r.Deleted()
}
