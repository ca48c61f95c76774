package plan

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
)

// A preview treats an unknown value as a change. So it may plan a replacement that turns out to be unnecessary. The members of its
// closure then stay, or are replaced for reasons of their own and in their own order. All of that may happen in the update of an
// unchanged program, so plans mark these resources (decision 0013).

// dependsOnUnknown reports whether the step for the resource of a registration is uncertain in the preview, because of unknown
// values or because of another such resource.
func (p *Plans) dependsOnUnknown(d stages.Diffed) bool {
	switch {
	case !p.making || d.Course == stages.ImportFailed:
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

// MarkClosureUncertain records that the members of a closure are deleted only if the delete-before-replace happens.
func (p *Plans) MarkClosureUncertain(root stages.Diffed, members []closure.Member) {
	if !p.dependsOnUnknown(root) {
		return
	}
	for _, m := range members {
		p.uncertain[m.Res.URN] = true
	}
}

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
