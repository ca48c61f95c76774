package display

import (
	"io"
	"strings"

	"github.com/sluice-iac/sluice"
)

// WriteDetails writes the property diffs of the steps of a plan, in its order: the answer to "details" at the prompt.
func WriteDetails(out io.Writer, o Options, steps []sluice.StepInfo) error {
	p := stepPrinter{o, style{o.Color}}
	var b strings.Builder
	for _, s := range steps {
		if p.shows(s) {
			b.WriteString(p.block(s, 0))
		}
	}
	if b.Len() == 0 {
		b.WriteString("    nothing changes\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// FormatOutputs renders the outputs of a stack for people.
func FormatOutputs(o Options, names []string, render func(name string) string) string {
	width := labelWidth(append([]string{"OUTPUT"}, names...))
	pad := func(s string) string { return s + strings.Repeat(" ", max(width-len([]rune(s)), 0)) }
	var b strings.Builder
	b.WriteString("    " + pad("OUTPUT") + "  VALUE\n")
	for _, n := range names {
		b.WriteString("    " + pad(cleanLine(n)) + "  " + render(n) + "\n")
	}
	return b.String()
}
