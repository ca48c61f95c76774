package providertest

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// The beginnings of property names with a meaning, see the package comment.
const (
	immutablePrefix   = "immutable"
	deleteFirstPrefix = "dbr"
	invalidPrefix     = "invalid"
	unhealthyName     = "unhealthy"
	arnName           = "arn"
)

// Compare is the cloud's rule for the changes that new inputs need. The detailed diff has one entry for each changed
// top-level property; unknown values count as changed, secrets compare by their elements.
func Compare(old, new property.Map, ignore []string) providers.DiffResponse {
	old, new = old.StripSecretsAndOutputs(), new.StripSecretsAndOutputs()
	answer := providers.DiffResponse{Changes: providers.DiffNone}
	ignored := map[string]bool{}
	for _, name := range ignore {
		ignored[name] = true
	}
	for _, name := range names(old, new) {
		before, had := old.Get(name)
		after, has := new.Get(name)
		if ignored[name] || property.Equal(before, after) && !after.HasUnknowns() {
			continue
		}
		kind := providers.DiffUpdate
		if !had {
			kind = providers.DiffAdd
		} else if !has {
			kind = providers.DiffDelete
		}
		if replaces(name) {
			kind = kind.AsReplace()
			answer.ReplaceKeys = append(answer.ReplaceKeys, name)
		}
		if strings.HasPrefix(name, deleteFirstPrefix) {
			answer.DeleteBeforeReplace = true
		}
		if answer.DetailedDiff == nil {
			answer.DetailedDiff = map[string]providers.PropertyDiff{}
		}
		answer.Changes = providers.DiffSome
		answer.ChangedKeys = append(answer.ChangedKeys, name)
		answer.DetailedDiff[property.Path{property.Key(name)}.String()] = providers.PropertyDiff{Kind: kind, InputDiff: true}
	}
	return answer
}

func replaces(name string) bool {
	return strings.HasPrefix(name, immutablePrefix) || strings.HasPrefix(name, deleteFirstPrefix)
}

// names returns the names of both objects in order.
func names(a, b property.Map) []string {
	all := append(a.Names(), b.Names()...)
	slices.Sort(all)
	return slices.Compact(all)
}

// refusals is the cloud's rule for Check.
func refusals(inputs property.Map) []providers.CheckFailure {
	var failures []providers.CheckFailure
	for name := range inputs.All() {
		if strings.HasPrefix(name, invalidPrefix) {
			failures = append(failures, providers.CheckFailure{Property: name, Reason: "this property is never valid"})
		}
	}
	return failures
}

func isUnhealthy(inputs property.Map) bool {
	v, _ := inputs.At(unhealthyName).Unwrap()
	return v.AsBool()
}

// outputs returns the outputs of a resource with these inputs.
func outputs(inputs property.Map, id string, preview bool) property.Map {
	arn := property.Computed()
	if !preview || id != "" {
		arn = property.String("arn:" + id)
	}
	return inputs.With(arnName, arn)
}
