package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Near returns the name with the smallest edit distance to wanted, or "" if none is near.
func Near(wanted string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	distance := func(name string) int {
		return levenshtein.Distance(strings.ToLower(wanted), strings.ToLower(name), nil)
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	if distance(best) > len(wanted)/3 {
		return ""
	}
	return best
}
