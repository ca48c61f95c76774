package state

import (
	"encoding/json"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Plan is what a preview found that an update would do, resource by resource: what an update that is held to it may do
// (steps.md 12). A plan that has been handed out is immutable.
type Plan struct {
	Manifest Manifest // who made the plan, and when
	// Config is the configuration that the preview used, as stack files spell it: "namespace:name" to a text, a structured
	// value, or {"secure": ciphertext}. It is for people; nothing is compared with it. nil leaves it out.
	Config    map[string]json.RawMessage
	Resources map[urn.URN]*PlannedResource
}

// PlannedResource is the part of a plan that is about one resource.
type PlannedResource struct {
	// Goal is how the program is to declare it; nil for a resource that is only to be deleted.
	Goal *PlannedGoal
	// Ops are the kinds of its steps, in order: "create", "update" and the others of steps.md 8.1.
	Ops []string
	// Outputs are those that the preview predicted, nil when it did not. Nothing is compared with them.
	Outputs *property.Map
	// Uncertain is true when a replacement is planned that may turn out not to be needed, or to be done in another order: it
	// depends on values that the preview did not know. Pulumi does not write this.
	Uncertain bool
	// Seed is the random seed with which the inputs were checked; it is used again (steps.md 3.5).
	Seed []byte
}

// PlannedGoal is the goal of a registration (steps.md 1.1) as far as plans hold programs to it.
type PlannedGoal struct {
	Type                    urn.Type
	Name                    string
	Custom                  bool
	Inputs                  PlannedDiff // from the recorded checked inputs to the new ones
	Outputs                 PlannedDiff // of what the program registers as outputs
	Parent                  urn.URN
	Protect                 bool
	Dependencies            []urn.URN
	Provider                string
	PropertyDependencies    map[string][]urn.URN
	DeleteBeforeReplace     *bool
	IgnoreChanges           []string
	AdditionalSecretOutputs []string
	Aliases                 []urn.Alias
	ImportID                string
	CustomTimeouts          Timeouts
}

// PlannedDiff is how properties are to change, at the top level: added, changed to what, deleted. What is in none of the
// three stays as it is.
type PlannedDiff struct {
	Adds, Updates property.Map
	Deletes       []string // sorted
}

// NewPlannedDiff returns the difference between two objects.
func NewPlannedDiff(old, new property.Map) PlannedDiff {
	d := property.Diff(old, new, nil)
	if d == nil {
		return PlannedDiff{}
	}
	updates := make(map[string]property.Value, len(d.Updates))
	for name, u := range d.Updates {
		updates[name] = u.New
	}
	return PlannedDiff{Adds: property.NewMap(d.Adds), Updates: property.NewMap(updates), Deletes: sortedKeys(d.Deletes)}
}
