package diagram

import (
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// tally counts resources by their change, or else by their trouble.
type tally struct {
	changes  map[Change]int
	troubles map[Trouble]int
	planned  map[Change]bool // also of resources in trouble
}

func (t *tally) count(n Node) {
	if t.changes == nil {
		t.changes, t.troubles, t.planned = map[Change]int{}, map[Trouble]int{}, map[Change]bool{}
	}
	t.planned[n.Change] = true
	if n.Trouble != "" {
		t.troubles[n.Trouble]++ // the change did not happen
	} else {
		t.changes[n.Change]++
	}
}

// parts formats the counts: changes with the function text, then troubles, as in "3 not reached".
func (t *tally) parts(text func(c Change, n int) string) []string {
	var out []string
	for _, c := range byDanger {
		if n := t.changes[c]; n > 0 {
			out = append(out, text(c, n))
		}
	}
	for _, trouble := range byTrouble {
		if n := t.troubles[trouble]; n > 0 {
			out = append(out, fmt.Sprintf("%s %s", format.Thousands(n), trouble))
		}
	}
	return out
}

// marks returns the marks of the changes with their names.
func (t *tally) marks() []string {
	var out []string
	for _, c := range byDanger {
		if t.planned[c] {
			out = append(out, fmt.Sprintf("%s %s", marks[c], c))
		}
	}
	return out
}
