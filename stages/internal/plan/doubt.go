package plan

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/compare"
)

// A preview takes what it does not know for a change. So it may plan a replacement that turns out not to be needed, which
// then does not take with it what it was to take: that stays, or is replaced on its own account and in its own order. All of
// that may happen in the update of an unchanged program, so plans say of which resources it is true (decision 0013).

// isUnsure reports whether the preview does not know what will be done to the resource of a registration: because of values
// that it does not know, or because of what will be done to another one.
func (p *Plans) isUnsure(d stages.Diffed) bool {
	switch {
	case !p.making || d.Course == stages.Answered:
		return false
	case d.Read != nil:
		return d.Read.ID.HasUnknowns()
	case d.Goal == nil:
		return false
	}
	return d.Accepted.HasUnknowns() || d.Inputs.HasUnknowns() || d.Goal.ReplacementTrigger.HasUnknowns() || p.unsure[d.Reason.Cause]
}

// markUncertain writes down whether the preview is sure about a registration, when it is decided.
func (p *Plans) markUncertain(d stages.Diffed) {
	if !p.isUnsure(d) {
		return
	}
	p.unsure[d.URN] = true
	if d.Old != nil {
		p.unsure[d.Old.URN] = true
	}
}

// MarkClosureUncertain writes down that what a delete-before-replace takes with it goes only if it happens.
func (p *Plans) MarkClosureUncertain(root stages.Diffed, members []closure.Member) {
	if !p.isUnsure(root) {
		return
	}
	for _, m := range members {
		p.unsure[m.Res.URN] = true
	}
}

// eitherInputs are the inputs of a resource of which it is not sure that it is made anew. What the provider fills in for a
// new object is unknown, unless the recorded one has the same, and so is what ignoreChanges keeps as long as there is
// something to keep.
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
