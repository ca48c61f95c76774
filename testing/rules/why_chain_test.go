package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages/why"
)

// chainText writes an explanation with one line for each link:
//
//	replace b [inputs x(resource) by Diff] <- a
func chainText(e *why.Explanation) string {
	var b strings.Builder
	for i, l := range e.Links {
		indent := ""
		if i >= e.Start {
			indent = "  "
		}
		fmt.Fprintf(&b, "%s%s %s [%s", indent, l.Op, l.Name, l.Reason)
		for _, c := range slices.Concat(l.Properties, l.Options) {
			fmt.Fprintf(&b, " %s(%s)", c.Path, c.Origin)
			if c.Old != nil || c.New != nil {
				fmt.Fprintf(&b, " %s=>%s", c.Old, c.New)
			}
		}
		b.WriteString("]")
		if l.DecidedBy != "" {
			fmt.Fprintf(&b, " by %s", l.DecidedBy)
		}
		if l.DeleteFirst {
			fmt.Fprintf(&b, " first %s", l.Order)
		}
		if l.Fate != "" {
			fmt.Fprintf(&b, " %s", l.Fate)
		}
		for _, n := range l.Next {
			fmt.Fprintf(&b, " <- %s", e.Links[n].Name)
		}
		for _, r := range l.Roots {
			fmt.Fprintf(&b, " <= %s", r)
		}
		b.WriteString("\n")
	}
	return b.String()
}
