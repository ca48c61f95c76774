package display

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Limits on waves without --diff.
const (
	maxWavesShown    = 10 // of one deletion
	maxClosuresShown = 5  // replacements that delete dependents first
	minDeletesShown  = 20 // deletes at the end: fewer are soon done
)

// wavePrinter formats the waves of deletes.
type wavePrinter struct{ steps stepPrinter }

// section shows the waves of deletes in a preview: the number of resources in each, and their names with --diff.
// It leaves out a deletion with only one wave and, without --diff, also a small one that delays nothing.
func (p wavePrinter) section(m *model) string {
	if m.summary == nil || m.summary.Result != stages.Succeeded {
		return "" // a complete preview would have more
	}
	var closures, atEnd []string
	shown, hidden := 0, 0
	for _, d := range inOrderOfDeletion(m.waves) {
		waves := shownWaves(d.Waves)
		switch {
		case len(waves) < 2:
		case d.Root == "" && !p.steps.Diff && count(waves) < minDeletesShown:
		case d.Root == "":
			atEnd = p.lines(d.Root, waves)
		case p.steps.Diff || shown < maxClosuresShown:
			shown++
			closures = append(closures, p.lines(d.Root, waves)...)
		default:
			hidden++
		}
	}
	if hidden > 0 {
		others := format.Plural(hidden, "other replacement", "other replacements")
		closures = append(closures, "Deletes in waves before "+others+"; --diff shows them")
	}
	return strings.Join(append(closures, atEnd...), "\n")
}

// lines returns the lines of one deletion: "Deletes in 3 waves: 12, 40, 1".
func (p wavePrinter) lines(root urn.URN, waves [][]urn.URN) []string {
	title := fmt.Sprintf("Deletes in %d waves", len(waves))
	if root != "" {
		title += " before replacing " + p.steps.subject(root)
	}
	var counts []string
	for _, w := range waves[:min(len(waves), maxWavesShown)] {
		counts = append(counts, strconv.Itoa(len(w)))
	}
	text := p.steps.style.bold(title+":") + " " + strings.Join(counts, ", ")
	if more := len(waves) - len(counts); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	lines := []string{text}
	if !p.steps.Diff {
		return lines
	}
	for i, w := range waves {
		label := fmt.Sprintf("%d: ", i+1)
		for _, u := range w {
			lines = append(lines, "    "+label+p.steps.subject(u))
			label = strings.Repeat(" ", len(label))
		}
	}
	return lines
}

func count(waves [][]urn.URN) int {
	n := 0
	for _, w := range waves {
		n += len(w)
	}
	return n
}

// shownWaves leaves out default providers, which other sections leave out too, and the root stack, which is always last
// and has no object. It leaves out waves that are then empty.
func shownWaves(waves [][]urn.URN) [][]urn.URN {
	var out [][]urn.URN
	for _, w := range waves {
		if w = slices.DeleteFunc(slices.Clone(w), func(u urn.URN) bool { return u.IsDefaultProvider() || u.IsRootStack() }); len(w) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// inOrderOfDeletion sorts replacements by name, and puts the deletes of the end phase last.
func inOrderOfDeletion(all []stages.DeletionWaves) []stages.DeletionWaves {
	return slices.SortedStableFunc(slices.Values(all), func(a, b stages.DeletionWaves) int {
		switch {
		case a.Root == b.Root:
			return 0
		case a.Root == "":
			return 1
		case b.Root == "":
			return -1
		}
		return cmp.Compare(a.Root, b.Root)
	})
}

// documentWaves are the waves of one deletion in the document of a preview.
type documentWaves struct {
	Root  urn.URN     `json:"root,omitempty"`
	Waves [][]urn.URN `json:"waves"`
}
