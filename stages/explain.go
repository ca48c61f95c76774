package stages

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// explain gives the reason for what the comparison found. upgraded are the properties that replaceOnChanges named.
func explain(d *Diffed, upgraded []string) Reason {
	switch {
	case d.Reason.Kind != ReasonNone:
		return d.Reason
	case d.Old.PendingReplacement:
		return Reason{Kind: ReasonInterrupted}
	case d.MustReplace && len(upgraded) > 0:
		return Reason{Kind: ReasonReplaceOnChanges, Properties: upgraded}
	case d.MustReplace:
		return inputsReason(replacingProperties(d.Diff))
	case d.Diff.Changes == providers.DiffSome:
		return inputsReason(changedProperties(d.Diff))
	case len(d.Old.InitErrors) > 0:
		return Reason{Kind: ReasonInitErrors}
	}
	return Reason{Kind: ReasonUnchanged}
}

func inputsReason(props []string) Reason {
	if len(props) == 0 {
		return Reason{Kind: ReasonProviderSaysSo}
	}
	return Reason{Kind: ReasonInputs, Properties: props}
}

func newProviderReason(old, now string) Reason {
	why := Reason{Kind: ReasonProviderChanged, By: ByDiffConfig}
	if old == "" || now == "" {
		why.By = ByEngine
	}
	if ref, err := urn.ParseProviderRef(now); err == nil {
		why.Cause = ref.URN
	}
	return why
}

// foundReason is why a refresh reports a recorded state as it does.
func foundReason(op Op, old *state.Resource, diff providers.DiffResponse) Reason {
	switch {
	case op == OpDelete:
		return Reason{Kind: ReasonVanished, By: ByRead}
	case op == OpUpdate:
		return Reason{Kind: ReasonDrift, Properties: changedProperties(diff), By: ByRead}
	case !old.Custom || old.Type.IsProvider():
		return Reason{Kind: ReasonUnchanged}
	}
	return Reason{Kind: ReasonUnchanged, By: ByRead}
}

// completeReason adds to the reason of a comparison what only the registration tells: options that changed, and whose the
// changed values are.
func completeReason(d *Diffed) {
	why := &d.Reason
	switch why.Kind {
	case ReasonInputs, ReasonProviderSaysSo, ReasonReplaceOnChanges, ReasonUnchanged:
		if why.By == ByNobody {
			why.By = d.by
		}
	}
	if why.Kind == ReasonUnchanged {
		if changed := changedOptions(d.Old, d.newState(d.Checked)); len(changed) > 0 {
			why.Kind, why.Properties = ReasonOptions, changed
		}
	}
	if why.Kind == ReasonInputs || why.Kind == ReasonReplaceOnChanges {
		why.Filled, why.Remediated = notTheProgramsOwn(d, why.Properties)
	}
	why.Ignored = ignoredDifferences(d.Goal.IgnoreChanges, d.Old.Inputs, d.Goal.Inputs)
}

// notTheProgramsOwn picks the changed properties whose values are not what the program gives.
func notTheProgramsOwn(d *Diffed, paths []string) (filled, remediated []string) {
	for _, text := range paths {
		path, err := property.ParsePath(text)
		if err != nil || len(path) == 0 || path[0].IsIndex {
			continue
		}
		name := path[0].Key
		given, ok := d.Goal.Inputs.Get(name)
		now := d.Inputs.At(name)
		switch {
		case !ok && d.remediated:
			remediated = append(remediated, text)
		case !ok && !now.IsNull():
			filled = append(filled, text)
		case ok && d.remediated && !property.Equal(given.StripSecretsAndOutputs(), now.StripSecretsAndOutputs()):
			remediated = append(remediated, text)
		}
	}
	return filled, remediated
}

// ignoredDifferences are the paths of ignoreChanges at which the program gives something else than what is recorded.
func ignoredDifferences(paths []string, olds, news property.Map) []string {
	var out []string
	for _, text := range paths {
		if kept, _ := ignoreChanges([]string{text}, olds, news); !property.EqualMaps(kept, news) {
			out = append(out, text)
		}
	}
	return sortedStrings(out)
}

// changedOptions names the options in which two states differ, in alphabetical order. Options that a state does not keep
// are not compared.
func changedOptions(old, now *state.Resource) []string {
	var out []string
	differs := func(name string, same bool) {
		if !same {
			out = append(out, name)
		}
	}
	differs("additionalSecretOutputs", sameNames(old.AdditionalSecretOutputs, now.AdditionalSecretOutputs))
	differs("customTimeouts", old.CustomTimeouts == now.CustomTimeouts)
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
	return slices.Equal(a, b) || slices.Equal(sortedStrings(a), sortedStrings(b))
}
