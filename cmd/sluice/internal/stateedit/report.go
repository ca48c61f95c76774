package stateedit

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/state"
)

// Report describes what a command has done to a state, for scripts.
type Report struct {
	Stack    string    `json:"stack"`
	Dest     string    `json:"dest,omitempty"`
	Changed  []Changed `json:"changed"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Changed is one resource that an edit has changed.
type Changed struct {
	URN    string `json:"urn"`
	ID     string `json:"id,omitempty"`
	NewURN string `json:"newUrn,omitempty"`
}

// WriteReport reports what a command has done: lines for people, the resources for scripts.
func WriteReport(e *Edit, title string, changed []*state.Resource) error {
	if e.Flags.JSON {
		r := Report{Stack: e.Name, Changed: []Changed{}}
		for _, c := range changed {
			r.Changed = append(r.Changed, Changed{URN: string(c.URN), ID: c.ID})
		}
		return format.JSON(e.Terminal.Data(), r)
	}
	_, err := fmt.Fprint(e.Terminal.Out, List(title, changed))
	return err
}

// List returns a title and a line for each resource.
func List(title string, resources []*state.Resource) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, r := range resources {
		b.WriteString("  " + format.Printable(string(r.URN)))
		if r.Delete {
			b.WriteString(" (" + state.DescribeCopy(r) + ")")
		}
		b.WriteString("\n")
	}
	return b.String()
}
