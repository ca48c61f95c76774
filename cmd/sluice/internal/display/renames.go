package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/aliases"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages/renames"
)

// maxRenamesShown is how many renames are shown, unless the user has requested everything.
const maxRenamesShown = 20

// WriteRenames writes the pairs of a delete and a create in a preview that are probably one resource, and for each the alias that would keep
// the resource, in the language of the program.
func WriteRenames(out io.Writer, o Options, all []renames.Rename) error {
	p := stepPrinter{Options: o, style: style{o.Color}}
	own, with := aliases.Own(all)
	if len(own) == 0 || o.OnlyEnd {
		return nil
	}
	shown := own
	if !o.ShowFullOutput {
		shown = own[:min(len(own), maxRenamesShown)]
	}
	var b strings.Builder
	b.WriteString("\n" + p.layout().fitted(p.style.bold("Renamed?")+" What is deleted looks like what is created. An alias keeps a resource under its new name:") + "\n")
	for _, r := range shown {
		text := "    " + renameText(p, r)
		if n := with[r.To]; n > 0 {
			text += ", with " + format.Plural(n, "resource", "resources") + " in it"
		}
		b.WriteString(p.layout().fitted(text) + "\n        " + aliases.Text(o.Runtime, r) + "\n")
	}
	if more := len(own) - len(shown); more > 0 {
		fmt.Fprintf(&b, "    and %d more; --show-full-output shows them\n", more)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// renameText names a resource that is probably a renamed one, and the difference: "aws:s3:Bucket archive, which was logs". A less certain rename
// is a question: "aws:s3:Bucket archive: was it logs?".
func renameText(p stepPrinter, r renames.Rename) string {
	statement, question := "was ", "was it "
	former := cleanLine(r.From.Name())
	switch {
	case p.ShowURNs:
		former = cleanLine(string(r.From))
	case r.From.Type() != r.To.Type():
		former = "of the type " + cleanLine(string(r.From.Type()))
	case r.From.Name() == r.To.Name():
		statement, question, former = "had ", "did it have ", "another parent"
	}
	if r.Possible {
		return p.subject(r.To) + ": " + question + former + "?"
	}
	return p.subject(r.To) + ", which " + statement + former
}
