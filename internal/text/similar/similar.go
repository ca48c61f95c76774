// Package similar finds the name that somebody may have meant.
package similar

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"
)

// Name returns the most similar name, or "" if none is similar. Among equally similar names, it prefers one of the same length, because letters are
// exchanged more often than left out.
func Name(wanted string, names []string) string {
	limit := max(2, len(wanted)/3)
	if len(wanted) < 4 {
		limit = len(wanted) / 2
	}
	best, bestDistance, bestGap := "", limit+1, 0
	folded, letters := strings.ToLower(wanted), utf8.RuneCountInString(wanted)
	for _, name := range names {
		gap := utf8.RuneCountInString(name) - letters
		gap = max(gap, -gap)
		if gap > bestDistance {
			continue
		}
		d := distance(folded, strings.ToLower(name))
		if d > limit || best != "" && cmp.Or(d-bestDistance, gap-bestGap, cmp.Compare(name, best)) > 0 {
			continue
		}
		best, bestDistance, bestGap = name, d, gap
	}
	return best
}

// distance returns how many letters have to be changed, inserted or deleted; a transposition of two letters counts as
// one.
func distance(a, b string) int {
	if len(a) == len(b) && a != b {
		i := 0
		for a[i] == b[i] {
			i++
		}
		if i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:] {
			return 1
		}
	}
	return levenshtein.Distance(a, b, nil)
}
