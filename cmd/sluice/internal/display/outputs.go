package display

import "strings"

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
	printer := &diffPrinter{showSecrets: o.ShowSecrets, full: o.ShowFullOutput}
	printer.stackOutputs(m.summary.OldOutputs, m.summary.Outputs, outputsOf(o, m))
	if len(printer.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(st.bold("Outputs:") + "\n")
	b.WriteString(painted(st, "  ", printer.lines))
	return b.String()
}
