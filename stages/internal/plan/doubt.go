package plan

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
)

// A preview treats an unknown value as a change. So it may plan a replacement that turns out to be unnecessary. The members of its
// closure then stay, or are replaced for reasons of their own and in their own order. All of that may happen in the update of an
// unchanged program, so plans mark these resources (decision 0013).

// eitherInputs returns the inputs of a resource that may or may not be created again. Inputs that the provider fills in for a new
// object are unknown, unless the recorded one has the same, and so are those that ignoreChanges keeps of the old object.
func eitherInputs(d stages.Diffed) property.Map {
	kept, _ := compare.IgnoreChanges(d.Goal.IgnoreChanges, d.Old.Inputs, d.Goal.Inputs)
	out := d.Accepted.Mutable()
	for _, name := range slices.Concat(d.Accepted.Names(), kept.Names()) {
		v := d.Accepted.At(name)
		if !property.Equal(v, kept.At(name)) && !property.Equal(v, d.Old.Inputs.At(name)) {
			out[name] = property.Computed()
		}
	}
	return property.NewMap(out)
}
