package reports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/diagram"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

// Limits on the drawing of a report.
const (
	maxWhole  = 40               // resources up to which all are drawn; a larger graph has the changes with their neighbours, unless it is collapsed
	maxBoxes  = 100              // resources are merged down to this number
	maxArrows = 600              // resources are merged until there are at most this many
	maxLayout = 20 * time.Second // for a graph that is slow to lay out all the same
)

// picture is the drawn graph of the changes.
type picture struct {
	SVG   string // "" if there is none
	Note  string // the parts left out or merged, or why there is no drawing
	Heads []int  // the resource that each box is named after
}

// pictureOf draws the changes with their dependencies. Without a drawing, the report is still complete.
func pictureOf(ctx context.Context, d *Document) picture {
	rs := make([]diagram.Resource, 0, len(d.Resources))
	changes := false
	for i := range d.Resources {
		r := d.Resources[i].drawn()
		changes = changes || (r.Change != "" || r.Trouble != "") && !r.URN.IsRootStack()
		rs = append(rs, r)
	}
	if !changes {
		return picture{}
	}
	whole := diagram.OfOperation(d.Operation.Project, d.Operation.Stack, rs)
	shown, out := whole, picture{}
	expand := !whole.IsLarge()
	if len(whole.Nodes) > maxWhole && expand {
		shown = whole.Changed()
	}
	drawing := shown.Draw(diagram.Options{Expand: expand, Limit: maxBoxes})
	for limit := maxBoxes / 2; drawing.Arrows() > maxArrows && limit > 0; limit /= 2 {
		drawing = shown.Draw(diagram.Options{Expand: expand, Limit: limit})
	}
	out.Note = noteOf(whole, shown, drawing)
	ctx, cancel := context.WithTimeout(ctx, maxLayout)
	defer cancel()
	svg, err := drawing.SVG(ctx)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("laying it out takes more than %s", maxLayout)
		}
		out.Note = fmt.Sprintf("The graph is not drawn: %v.", err)
		return out
	}
	out.SVG = inline(svg)
	at := make(map[urn.URN]int, len(d.Resources))
	for i := range d.Resources {
		at[d.Resources[i].URN] = i
	}
	for _, n := range drawing.Heads() {
		out.Heads = append(out.Heads, at[shown.Nodes[n].URN])
	}
	return out
}

// noteOf describes the part of the report that a drawing leaves out.
func noteOf(whole, shown *diagram.Diagram, drawing *diagram.Drawing) string {
	note := ""
	if hidden := len(whole.Nodes) - len(shown.Nodes); hidden > 0 {
		note = format.PluralThousands(hidden, "resource that neither changes nor is next to a change is", "resources that neither change nor are next to a change are") + " not drawn. "
	}
	switch {
	case drawing.Merged != "" && drawing.Open != "":
		note += fmt.Sprintf("Resources of the same %s are one box, except %s.", drawing.Merged, drawing.Open)
	case drawing.Merged != "":
		note += fmt.Sprintf("Resources of the same %s are one box.", drawing.Merged)
	case drawing.Collapsed:
		note += "A component is one box."
	}
	return note
}

// inline returns an image as a part of a page: without the declarations of a file.
func inline(svg []byte) string {
	if i := bytes.Index(svg, []byte("<svg")); i >= 0 {
		svg = svg[i:]
	}
	for _, name := range []string{` xmlns="http://www.w3.org/2000/svg"`, ` xmlns:xlink="http://www.w3.org/1999/xlink"`} {
		svg = bytes.Replace(svg, []byte(name), nil, 1)
	}
	return string(svg) // Graphviz has escaped the texts
}
