package native

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// Forget removes an input from an answer, as if it had not changed.
func Forget(answer *providers.DiffResponse, key string) {
	is := func(k string) bool { return k == key }
	answer.ReplaceKeys = slices.DeleteFunc(answer.ReplaceKeys, is)
	answer.ChangedKeys = slices.DeleteFunc(answer.ChangedKeys, is)
	for path := range answer.DetailedDiff {
		if p, err := property.ParsePath(path); err == nil && p[:1].String() == key {
			delete(answer.DetailedDiff, path)
		}
	}
	if len(answer.ChangedKeys) == 0 {
		answer.Changes = providers.DiffNone
	}
}
