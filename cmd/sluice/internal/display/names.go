package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/urn"
)

// resourceNames names resources for people.
type resourceNames struct{ urns bool }

// one returns the name under which a resource is shown.
func (n resourceNames) one(u urn.URN) string {
	if n.urns {
		return cleanLine(string(u))
	}
	return fmt.Sprintf("%s (%s)", cleanLine(u.Name()), cleanLine(string(u.Type())))
}

// all returns short names, without types.
func (n resourceNames) all(us []urn.URN) string {
	out := make([]string, len(us))
	for i, u := range us {
		out[i] = cleanLine(u.Name())
		if n.urns {
			out[i] = cleanLine(string(u))
		}
	}
	return strings.Join(out, ", ")
}

// counted names a few resources and counts them.
func (n resourceNames) counted(us []urn.URN) string {
	if len(us) == 1 {
		return n.all(us)
	}
	text := n.all(sortedByName(us)[:min(len(us), maxNamesShown)])
	if len(us) > maxNamesShown {
		text += ", …"
	}
	return fmt.Sprintf("%d (%s)", len(us), text)
}

// first names the first resources in the order of their names, and counts the others.
func (n resourceNames) first(us []urn.URN, most int) string {
	if len(us) == most+1 {
		most++ // a name is as short as a count
	}
	text := n.all(sortedByName(us)[:min(len(us), most)])
	if more := len(us) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func sortedByName(us []urn.URN) []urn.URN {
	return slices.SortedStableFunc(slices.Values(us), func(a, b urn.URN) int { return natural.Compare(a.Name(), b.Name()) })
}
