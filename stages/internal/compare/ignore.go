package compare

import (
	"github.com/sluice-iac/sluice/property"
)

// IgnoreChanges restores the old values at the paths (steps.md 3.4). It returns the paths for which that is impossible.
func IgnoreChanges(paths []string, olds, news property.Map) (result property.Map, impossible []string) {
	result = news
	for _, text := range paths {
		p, err := property.ParsePath(text)
		if err != nil {
			continue
		}
		next, ok := property.Reset(p, olds, result)
		if !ok {
			impossible = append(impossible, text)
		}
		result = next
	}
	return result, impossible
}
