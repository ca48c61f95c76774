package possible

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
)

// differences divides the differences between the recorded and the new inputs of a resource: those that depend on unknown values,
// and those that exist whatever these turn out to be.
type differences struct {
	olds, news property.Map // without secrets and outputs
}

func differencesOf(d stages.Diffed) differences {
	return differences{olds: d.Old.Inputs.StripSecretsAndOutputs(), news: d.Inputs.StripSecretsAndOutputs()}
}

// all returns the places where the inputs differ only by unknown values, and whether they differ elsewhere.
func (i differences) all() (unknown []property.Path, known bool) {
	return i.of(property.Diff(i.olds, i.news, nil).ChangedKeys())
}

// of is like all, for the changed properties of a comparison.
func (i differences) of(paths []string) (unknown []property.Path, known bool) {
	for _, text := range paths {
		path, err := property.ParsePath(text)
		if err != nil || len(path) == 0 {
			known = true // such as the errors of a resource that is not healthy
			continue
		}
		at, certain := i.at(path)
		unknown, known = append(unknown, at...), known || certain
	}
	return unknown, known
}

// at returns the unknown values at a place that a comparison names, and whether it differs whatever they turn out to be.
func (i differences) at(path property.Path) (unknown []property.Path, known bool) {
	for n := range path {
		if above, ok := i.news.Lookup(path[:n+1]); ok && above.IsUnknown() {
			return []property.Path{path[:n+1]}, false
		}
	}
	is, ok := i.news.Lookup(path)
	if !ok || !is.HasUnknowns() {
		return nil, true
	}
	was, _ := i.olds.Lookup(path)
	const name = "v"
	object := func(v property.Value) property.Map { return property.NewMap(map[string]property.Value{name: v}) }
	for c := range property.Diff(object(was), object(is), nil).Changes() {
		if c.New.IsUnknown() {
			unknown = append(unknown, slices.Concat(path, c.Path[1:]))
		} else {
			known = true
		}
	}
	return unknown, known
}

// dependsOn returns the unknown values on which a change that Diff requires depends, and the operation without that change. There
// are none for a change that is certain.
func dependsOn(d stages.Diffed) (unknown []property.Path, otherwise stages.Op) {
	i := differencesOf(d)
	changed := compare.ChangedProperties(d.Diff)
	inputs, differ := i.of(changed)
	if len(changed) == 0 {
		inputs, differ = i.all() // the provider has not named the differences
	}
	if !d.Replaces() {
		if differ {
			return nil, ""
		}
		return inputs, stages.OpSame
	}
	replacing, certain := i.of(slices.Concat(compare.ReplacingProperties(d.Diff), upgraded(d.Reason)))
	switch {
	case certain:
		return nil, ""
	case len(replacing) == 0 && differ:
		return nil, "" // the provider has not named the properties that replace it
	case len(replacing) == 0:
		return inputs, stages.OpSame
	case differ:
		return replacing, stages.OpUpdate
	}
	return replacing, stages.OpSame
}

// upgraded are the properties that replace the resource because replaceOnChanges names them.
func upgraded(why stages.Reason) []string {
	if why.Kind == stages.ReasonReplaceOnChanges {
		return why.Properties
	}
	return nil
}
