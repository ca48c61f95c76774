package state

import (
	"encoding/json"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Plan has the predictions of a preview, resource by resource, as the limits for an update that is held to it
// ([steps.md 12]). A plan that has been handed out is immutable.
//
// [steps.md 12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#12-update-plans
type Plan struct {
	Manifest Manifest // which tool made the plan, and when
	// Config is the configuration that the preview used, in the form of stack files: "namespace:name" to a text, a
	// structured value, or {"secure": ciphertext}. It is for people; nothing is compared with it. nil leaves it out.
	Config    map[string]json.RawMessage
	Resources map[urn.URN]*PlannedResource
}

// PlannedResource is the part of a plan about one resource.
type PlannedResource struct {
	// Goal is the planned registration; nil for a resource that is only to be deleted.
	Goal *PlannedGoal
	// Ops are the kinds of its steps, in order: "create", "update" and the others of steps.md 8.1.
	Ops []string
	// Outputs are the outputs that the preview predicted, nil if it did not. Nothing is compared with them.
	Outputs *property.Map
	// Uncertain is true for a planned replacement that depends on values that the preview did not know. It may turn out to
	// be unnecessary, or may happen in another order. Pulumi does not write this.
	Uncertain bool
	// Seed is the random seed with which the inputs were checked; it is used again (steps.md 3.5).
	Seed []byte
}

// PlannedGoal is the part of a registration's goal ([steps.md 1.1]) to which plans hold programs.
//
// [steps.md 1.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#11-fields
type PlannedGoal struct {
	Type                    urn.Type
	Name                    string
	Custom                  bool
	Inputs                  PlannedDiff // from the recorded checked inputs to the new ones
	Outputs                 PlannedDiff // of the outputs that the program registers
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

// PlannedDiff is the change of properties at the top level: added, changed, deleted. Properties in none of the three
// stay as they are.
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
