package standard

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// explain returns the reason for the result of the comparison. upgraded are the properties that replaceOnChanges named.
func explain(d *stages.Diffed, upgraded []string) stages.Reason {
	switch {
	case d.Reason.Kind != stages.ReasonNone:
		return d.Reason
	case d.Old.PendingReplacement:
		return stages.Reason{Kind: stages.ReasonInterrupted}
	case d.MustReplace && len(upgraded) > 0:
		return stages.Reason{Kind: stages.ReasonReplaceOnChanges, Properties: upgraded}
	case d.MustReplace:
		return compare.InputsReason(compare.ReplacingProperties(d.Diff))
	case d.Diff.Changes == providers.DiffSome:
		return compare.InputsReason(compare.ChangedProperties(d.Diff))
	case len(d.Old.InitErrors) > 0:
		return stages.Reason{Kind: stages.ReasonInitErrors}
	}
	return stages.Reason{Kind: stages.ReasonUnchanged}
}

func newProviderReason(old, now string) stages.Reason {
	why := stages.Reason{Kind: stages.ReasonProviderChanged, By: stages.ByDiffConfig}
	if old == "" || now == "" {
		why.By = stages.ByEngine
	}
	if ref, err := urn.ParseProviderRef(now); err == nil {
		why.Cause = ref.URN
	}
	return why
}

// completeReason adds to the reason of a comparison the parts that only the registration has: changed options, inputs that differ
// where the provider names none, and the origins of the changed values.
func completeReason(d *stages.Diffed) {
	why := &d.Reason
	switch why.Kind {
	case stages.ReasonInputs, stages.ReasonProviderSaysSo, stages.ReasonReplaceOnChanges, stages.ReasonUnchanged:
		if why.By == stages.ByNobody {
			why.By = d.By
		}
	}
	if why.Kind == stages.ReasonUnchanged {
		if changed := changedOptions(d.Old, d.NewState(d.Checked)); len(changed) > 0 {
			why.Kind, why.Properties = stages.ReasonOptions, changed
		}
	}
	if why.Kind == stages.ReasonProviderSaysSo && len(why.Properties) == 0 {
		why.Properties = property.Diff(d.Old.Inputs.WithoutInternal(), d.Inputs.WithoutInternal(), nil).ChangedKeys()
	}
	switch why.Kind {
	case stages.ReasonInputs, stages.ReasonReplaceOnChanges, stages.ReasonProviderSaysSo:
		why.Filled, why.Remediated = notTheProgramsOwn(d, why.Properties)
	}
	why.Ignored = ignoredDifferences(d.Goal.IgnoreChanges, d.Old.Inputs, d.Goal.Inputs)
}

// notTheProgramsOwn returns the changed properties whose values differ from those that the program gives.
func notTheProgramsOwn(d *stages.Diffed, paths []string) (filled, remediated []string) {
	for _, text := range paths {
		path, err := property.ParsePath(text)
		if err != nil || len(path) == 0 || path[0].IsIndex {
			continue
		}
		name := path[0].Key
		given, ok := d.Goal.Inputs.Get(name)
		now := d.Inputs.At(name)
		switch {
		case !ok && d.Remediated:
			remediated = append(remediated, text)
		case !ok && !now.IsNull():
			filled = append(filled, text)
		case ok && d.Remediated && !property.Equal(given.StripSecretsAndOutputs(), now.StripSecretsAndOutputs()):
			remediated = append(remediated, text)
		}
	}
	return filled, remediated
}

// ignoredDifferences returns the paths of ignoreChanges at which the program's value differs from the recorded one.
func ignoredDifferences(paths []string, olds, news property.Map) []string {
	var out []string
	for _, text := range paths {
		if kept, _ := compare.IgnoreChanges([]string{text}, olds, news); !property.EqualMaps(kept, news) {
			out = append(out, text)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// changedOptions returns the names of the options in which two states differ, in alphabetical order. Options that a state
// does not record are not compared.
func changedOptions(old, now *state.Resource) []string {
	var out []string
	differs := func(name string, same bool) {
		if !same {
			out = append(out, name)
		}
	}
	differs("additionalSecretOutputs", sameNames(old.AdditionalSecretOutputs, now.AdditionalSecretOutputs))
	differs("customTimeouts", old.CustomTimeouts.Value() == now.CustomTimeouts.Value())
	differs("deletedWith", old.DeletedWith == now.DeletedWith)
	differs("dependencies", state.SameURNs(old.Dependencies, now.Dependencies) && state.SameURNLists(old.PropertyDependencies, now.PropertyDependencies))
	differs("hideDiffs", sameNames(old.HideDiff, now.HideDiff))
	differs("hooks", maps.EqualFunc(old.ResourceHooks, now.ResourceHooks, slices.Equal[[]string]))
	differs("ignoreChanges", sameNames(old.IgnoreChanges, now.IgnoreChanges))
	differs("import", old.ImportID == now.ImportID)
	differs("name", old.URN == now.URN)
	differs("parent", old.Parent == now.Parent)
	differs("protect", old.Protect == now.Protect)
	differs("provider", old.Provider == now.Provider)
	differs("replaceOnChanges", sameNames(old.ReplaceOnChanges, now.ReplaceOnChanges))
	differs("replaceWith", state.SameURNs(old.ReplaceWith, now.ReplaceWith))
	differs("replacementTrigger", property.Identical(old.ReplacementTrigger, now.ReplacementTrigger))
	differs("retainOnDelete", old.RetainOnDelete == now.RetainOnDelete)
	return out
}

func sameNames(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
