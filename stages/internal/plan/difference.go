package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// difference is one deviation from the plan: the rule's text, and both values.
type difference struct{ text, planned, now string }

func changed(what string, expected, actual any) *difference {
	return &difference{
		text:    fmt.Sprintf("%s changed (expected %v)", what, expected),
		planned: fmt.Sprintf("%s %v", what, expected),
		now:     fmt.Sprintf("%s %v", what, actual),
	}
}

// changedSet compares two lists as sets; nil if they are equal.
func changedSet[S ~string](what string, expected, actual []S) *difference {
	were, are := set(expected), set(actual)
	var parts []string
	for _, x := range []struct {
		verb      string
		of, notIn map[S]bool
	}{{"added", are, were}, {"deleted", were, are}} {
		var names []string
		for _, s := range slices.Sorted(maps.Keys(x.of)) {
			if !x.notIn[s] {
				names = append(names, string(s))
			}
		}
		if len(names) > 0 {
			parts = append(parts, x.verb+" "+strings.Join(names, ", "))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	listed := func(m map[S]bool) string {
		if len(m) == 0 {
			return "no " + what
		}
		return fmt.Sprintf("%s %v", what, slices.Sorted(maps.Keys(m)))
	}
	return &difference{text: what + " changed: " + strings.Join(parts, "; "), planned: listed(were), now: listed(are)}
}

func set[S ~string](list []S) map[S]bool {
	m := make(map[S]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}
