package reports

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/diagram"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/urn"
)

func took(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 2, 64) + "s"
	}
	return d.Round(time.Second).String()
}

// The classes of the appearance of resources in trouble.
const (
	classFailed = "failed"
	classMissed = "missed" // nothing has happened to it
)

// signs are those of trouble.
var signs = map[string]string{classFailed: "✗", classMissed: "○"}

// troubles has the trouble of a resource with a status.
var troubles = map[Status]struct {
	class string
	drawn diagram.Trouble
}{
	Failing: {classFailed, diagram.Failed}, Unfinished: {classFailed, diagram.Unfinished},
	Skipped: {classMissed, diagram.NotReached}, NotReached: {classMissed, diagram.NotReached}, Kept: {classMissed, diagram.Kept},
}

// subject names a resource: its type and name.
func subject(u urn.URN) string {
	return display.ShortType(u.Type()) + " " + display.CleanLine(u.Name())
}

// maxRootCauses is how many root causes are listed for people.
const maxRootCauses = 100

// typeCount is the number of resources of one type.
type typeCount struct {
	typ urn.Type
	n   int
}

// sortedCounts returns counts of types, the largest first.
func sortedCounts(m map[urn.Type]int) []typeCount {
	out := make([]typeCount, 0, len(m))
	for typ, n := range m {
		out = append(out, typeCount{typ, n})
	}
	slices.SortFunc(out, func(a, b typeCount) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.typ, b.typ)) })
	return out
}
