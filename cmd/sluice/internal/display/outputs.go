package display

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// outputs selects the outputs of the stack to show, and their form.
type outputs int

const (
	allOutputs     outputs = iota // with marks at those that changed
	changedOutputs                // only those that change
	firstOutputs                  // all, without marks: the stack is new
)

// outputsOf selects the outputs to show. A preview is about changes, and an update about its results. In a diff, everything new has a mark.
func outputsOf(o Options, m *model) outputs {
	switch {
	case m.newStack && !o.Diff:
		return firstOutputs
	case o.IsPreview && !o.ShowSames:
		return changedOutputs
	}
	return allOutputs
}

// outputsSection shows the stack's outputs. For a failed run it shows only those that are certain.
func outputsSection(o Options, st style, m *model) string {
	if o.SuppressOutputs || m.summary == nil {
		return ""
	}
	printer := newDiffPrinter(o.ShowSecrets, o.ShowFullOutput)
	outputsOf(o, m).print(printer, m.summary.OldOutputs, m.summary.Outputs)
	if len(printer.out.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(st.bold("Outputs:") + "\n")
	b.WriteString(painted(st, "  ", printer.out.lines))
	return b.String()
}

// print prints the outputs of the stack and marks those that changed.
func (which outputs) print(p *diffPrinter, old, new property.Map) {
	names := namesOfBoth(old, new)
	if which == changedOutputs {
		names = slices.DeleteFunc(names, func(name string) bool { return property.Equal(old.At(name), new.At(name)) })
	}
	width := labelWidth(names)
	for _, name := range names {
		was, is := old.At(name), new.At(name)
		l := label{name: padName(name, width)}
		switch {
		case was.IsNull() && is.IsNull():
		case was.IsNull() && which == firstOutputs:
			p.values.print(0, same, l, is)
		case was.IsNull():
			p.values.print(0, added, l, is)
		case is.IsNull():
			p.values.print(0, removed, l, was)
		case property.Equal(was, is):
			p.values.print(0, same, l, is)
		default:
			p.compare(0, l, property.Path{property.Key(name)}, was, is)
		}
	}
}
