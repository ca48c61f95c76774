package compare

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// ReplaceOnChanges upgrades changes to replacements (steps.md 3.10). It returns the properties that it upgraded.
func ReplaceOnChanges(d *providers.DiffResponse, patterns []string, initErrors bool) (upgraded []string, err error) {
	if len(patterns) == 0 || d.Changes != providers.DiffSome && !initErrors {
		return nil, nil
	}
	paths := make([]property.Path, 0, len(patterns))
	for _, text := range patterns {
		p, err := property.ParsePath(text)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	contained := func(text string) bool {
		q, err := property.ParsePath(text)
		return err == nil && slices.ContainsFunc(paths, func(p property.Path) bool { return p.Contains(q) })
	}
	upgraded = upgradeDetailed(d, contained)
	keys := slices.Clone(d.ReplaceKeys)
	for _, k := range d.ChangedKeys {
		if contained(k) && !slices.Contains(keys, k) {
			keys = append(keys, k)
			upgraded = append(upgraded, k)
		}
	}
	if initErrors && contained(stages.InitErrorKey) {
		keys = append(keys, stages.InitErrorKey)
		upgraded = append(upgraded, stages.InitErrorKey)
		if d.DetailedDiff != nil {
			d.DetailedDiff[stages.InitErrorKey] = providers.PropertyDiff{Kind: providers.DiffUpdateReplace}
		}
		d.Changes = providers.DiffSome
	}
	d.ReplaceKeys = keys
	return slices.Compact(slices.Sorted(slices.Values(upgraded))), nil
}

// upgradeDetailed upgrades the entries of a detailed diff, in a copy: the provider's answer may be shared.
func upgradeDetailed(d *providers.DiffResponse, contained func(string) bool) (upgraded []string) {
	if d.DetailedDiff == nil {
		return nil
	}
	detailed := make(map[string]providers.PropertyDiff, len(d.DetailedDiff))
	for text, v := range d.DetailedDiff {
		if contained(text) {
			if !v.Kind.IsReplace() {
				upgraded = append(upgraded, text)
			}
			v.Kind = v.Kind.AsReplace()
		}
		detailed[text] = v
	}
	d.DetailedDiff = detailed
	return upgraded
}

// ReplacingProperties are the properties that force a replacement, from the detailed diff if there is one.
func ReplacingProperties(d providers.DiffResponse) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(d.DetailedDiff)) {
		if d.DetailedDiff[p].Kind.IsReplace() {
			out = append(out, p)
		}
	}
	if len(out) > 0 {
		return out
	}
	return slices.Compact(slices.Sorted(slices.Values(d.ReplaceKeys)))
}

// ChangedProperties returns the paths of the properties that differ, in ascending order, as far as the provider names them.
func ChangedProperties(d providers.DiffResponse) []string {
	if len(d.DetailedDiff) > 0 {
		return slices.Sorted(maps.Keys(d.DetailedDiff))
	}
	return slices.Compact(slices.Sorted(slices.Values(d.ChangedKeys)))
}
