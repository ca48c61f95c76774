package possible

import (
	"cmp"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
)

// Changes distinguishes the possible changes of a run from the certain ones. Only the build stage uses it.
type Changes struct {
	rooms     *rooms.Rooms
	decisions *rooms.DecisionsWriter
	preview   bool
}

// NewChanges returns the possible changes of a run, of which there are none unless it is a preview.
func NewChanges(b *rooms.Rooms, w *rooms.DecisionsWriter, preview bool) *Changes {
	return &Changes{b, w, preview}
}

// Of returns why the change that a comparison requires is only possible. It returns nil if the change is certain.
func (c *Changes) Of(d stages.Diffed) *stages.Possibility {
	if !c.preview || !d.Compared || d.Old == nil || d.Old.PendingReplacement {
		return nil
	}
	switch d.Reason.Kind {
	case stages.ReasonReplaceWith, stages.ReasonDeletedWith, stages.ReasonProviderChanged:
		return c.with(d.Reason.Cause)
	case stages.ReasonTrigger:
		if d.Old.ReplacementTrigger.HasUnknowns() || !d.Goal.ReplacementTrigger.HasUnknowns() {
			return nil
		}
		return &stages.Possibility{Otherwise: stages.OpSame, Unknowns: []stages.Unknown{{Property: "replacementTrigger"}}}
	case stages.ReasonInputs, stages.ReasonReplaceOnChanges, stages.ReasonProviderSaysSo:
		return c.compared(d)
	}
	return d.Reason.Possible // that of a closure
}

// with returns the possibility of a replacement that follows from that of another resource.
func (c *Changes) with(cause urn.URN) *stages.Possibility {
	if !c.rooms.Decisions.Has(cause, rooms.PossiblyReplaced) {
		return nil
	}
	return &stages.Possibility{Otherwise: stages.OpSame}
}

func (c *Changes) compared(d stages.Diffed) *stages.Possibility {
	if d.Reason.By == stages.ByNotYet {
		if _, known := differencesOf(d).all(); known {
			return nil
		}
		return &stages.Possibility{Otherwise: stages.OpSame}
	}
	if !d.Inputs.HasUnknowns() {
		return nil
	}
	paths, otherwise := dependsOn(d)
	if len(paths) == 0 {
		return nil
	}
	slices.SortFunc(paths, func(a, b property.Path) int { return cmp.Compare(a.String(), b.String()) })
	paths = slices.CompactFunc(paths, func(a, b property.Path) bool { return slices.Equal(a, b) })
	p := &stages.Possibility{Otherwise: otherwise}
	for _, path := range paths[:min(len(paths), stages.MaxUnknowns)] {
		p.Unknowns = append(p.Unknowns, c.unknown(d, path))
	}
	return p
}

// Note records the replacement of a registration, so that replacements which follow from a possible one are only possible, too.
func (c *Changes) Note(d stages.Diffed) {
	if d.Reason.Possible == nil || !d.Replaces() {
		return
	}
	c.decisions.Add(d.URN, rooms.PossiblyReplaced)
	c.decisions.Add(d.Old.URN, rooms.PossiblyReplaced)
}

// NoteClosure marks the members of the closure of a delete-before-replace that is only possible: their replacements are only
// possible, too.
func NoteClosure(root stages.Diffed, members []closure.Member) {
	if root.Reason.Possible == nil {
		return
	}
	for i := range members {
		members[i].Why.Possible = &stages.Possibility{Otherwise: stages.OpSame}
	}
}

// unknown describes an unknown input: the resource that it comes from, and the output. Programs report only the resources that an
// input comes from. The output is the one whose recorded value is in the recorded input.
func (c *Changes) unknown(d stages.Diffed, path property.Path) stages.Unknown {
	u := stages.Unknown{Property: path.String()}
	was, _ := d.Old.Inputs.StripSecretsAndOutputs().Lookup(path)
	var best found
	for _, dep := range slices.Sorted(slices.Values(d.Goal.PropertyDependencies[path[0].Key])) {
		made, ok := c.rooms.Results.Lookup(dep)
		if !ok {
			continue
		}
		op := c.opOf(dep)
		if u.Of == "" || u.Op == "" && op != "" {
			u.Of, u.Op = dep, op
		}
		if !made.Custom || !was.IsString() {
			continue
		}
		if f := outputIn(was.AsString(), c.rooms.Base.Olds[dep], made, op); f.isBetterThan(best) {
			best = f
			u.Of, u.Output, u.Op = dep, f.output, op
		}
	}
	return u
}

// opOf returns the decided operation on a resource, "" if it does not change.
func (c *Changes) opOf(u urn.URN) stages.Op {
	o := c.rooms.Decisions
	switch {
	case o.Has(u, rooms.Replaced):
		return stages.OpReplace
	case o.Has(u, rooms.Created):
		return stages.OpCreate
	case o.Has(u, rooms.Updated):
		return stages.OpUpdate
	case o.Has(u, rooms.Read):
		return stages.OpRead
	}
	return ""
}
