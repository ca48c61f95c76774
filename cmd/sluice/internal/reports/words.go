package reports

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func took(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 2, 64) + "s"
	}
	return d.Round(time.Second).String()
}

// count is the number of resources with the same operation, or in the same trouble.
type count struct {
	Op   stages.Op // "" for trouble
	Text string    // "12 to delete"
	N    int
}

// class and sign are those of the operation, or of trouble.
func (c count) class() string {
	if c.Op == "" {
		return "delete"
	}
	return classOf(c.Op)
}

func (c count) sign() string {
	if c.Op == "" {
		return "✗"
	}
	return strings.TrimSpace(display.Sign(c.Op))
}

// troubles are the statuses of resources in trouble.
var troubles = [...]struct {
	status Status
	text   string
}{
	{Failing, "failed"}, {Unfinished, "with an unknown end"}, {Skipped, "skipped"}, {NotReached, "not reached"}, {Kept, "kept because of the failure"},
}

// thousands formats a number: "12,345".
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// subject names a resource: its type and name.
func subject(u urn.URN) string {
	return display.ShortType(u.Type()) + " " + display.CleanLine(u.Name())
}

// maxRootCauses is how many root causes are listed for people.
const maxRootCauses = 100

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", thousands(n), many)
}

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
