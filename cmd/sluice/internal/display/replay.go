package display

import (
	"io"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// WriteDetails writes the property diffs of the steps of a plan, in order, for the choice "details" at the prompt.
func WriteDetails(out io.Writer, o Options, steps []stages.StepInfo) error {
	left := map[urn.URN]bool{}
	for _, s := range steps {
		left[s.URN] = s.Op == stages.OpSame
	}
	p := stepPrinter{Options: o, style: style{o.Color}, unchanged: func(u urn.URN) bool { return left[u] }}
	var b strings.Builder
	for _, s := range steps {
		if p.shows(s) {
			b.WriteString(p.layout().fitted(blockPrinter{p}.text(s, 0)))
		}
	}
	if b.Len() == 0 {
		b.WriteString("    nothing changes\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
