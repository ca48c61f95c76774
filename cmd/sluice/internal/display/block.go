package display

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// blockPrinter formats steps with their properties, a block of lines for each.
type blockPrinter struct{ steps stepPrinter }

// text renders a step with its properties (protocol.md 10.8). depth is the number of its visible ancestors.
func (p blockPrinter) text(s stages.StepInfo, depth int) string {
	var b strings.Builder
	indent := strings.Repeat("    ", depth)
	b.WriteString(indent + p.header(s) + "\n")
	for _, text := range p.identity(s) {
		b.WriteString(indent + "    " + p.steps.style.paint(grey, text) + "\n")
	}
	printer := newDiffPrinter(p.steps.ShowSecrets, p.steps.ShowFullOutput)
	printer.hidden, printer.values.forced, printer.format.waits = hiddenOf(s), forcedOf(s), p.waits(s)
	(&stepDiff{diff: printer, step: s, printed: map[string]bool{}}).print()
	b.WriteString(painted(p.steps.style, indent+"  ", printer.out.lines))
	return b.String()
}

// waits returns a function that describes what the unknowns of a property wait for: the resources that they come from, without unchanged
// ones.
func (p blockPrinter) waits(s stages.StepInfo) func(name string) string {
	if s.New == nil {
		return nil
	}
	return func(name string) string {
		from := s.New.PropertyDependencies[name]
		if p.steps.unchanged != nil {
			if open := slices.DeleteFunc(slices.Clone(from), p.steps.unchanged); len(open) > 0 {
				from = open
			}
		}
		names := make([]string, len(from))
		for i, u := range from {
			names[i] = cleanLine(u.Name())
		}
		slices.Sort(names)
		switch n := len(names); {
		case n == 0:
			return ""
		case n == 1:
			return names[0] + " is done"
		case n <= maxNamed:
			return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " are done"
		default:
			return strings.Join(names[:maxNamed-1], ", ") + fmt.Sprintf(" and %d others are done", n-maxNamed+1)
		}
	}
}

// maxNamed is the number of resources named for which a value waits.
const maxNamed = 3

func (p blockPrinter) header(s stages.StepInfo) string {
	w := wordsFor(s.Op)
	subject := shortType(s.URN.Type()) + " " + cleanLine(s.URN.Name())
	if p.steps.ShowURNs {
		subject = cleanLine(string(s.URN))
	}
	said := possibly(s) + string(s.Op)
	if p.steps.IsPreview && isCertain(s) {
		said += ", certain"
	}
	switch because := cleanLine(s.Reason.String()); {
	case p.steps.departureOf(s) != "":
		said += ", because " + p.steps.departureOf(s)
	case s.IsPossible():
		said += ", because " + possiblyText(s.Reason.Possible, s.Reason.Possibly())
	case because != "" && s.Op != stages.OpSame && s.Op != stages.OpCreate:
		said += ", " + because
	}
	if former := renamedFrom(s); former != "" {
		said += ", " + former
	}
	if s.Retains() && (s.Op == stages.OpDelete || s.Op == stages.OpDeleteReplaced) {
		said += " [retain]"
	}
	text := w.mark + subject + ": (" + said + ")"
	switch {
	case s.New != nil && s.New.Protect || s.New == nil && s.Old != nil && s.Old.Protect:
		text += " [protected]"
	case s.Old != nil && s.Old.Protect && s.New != nil:
		text += " [no longer protected]"
	}
	return p.steps.style.paint(w.colour, text)
}

func (p blockPrinter) identity(s stages.StepInfo) []string {
	var out []string
	if s.Old != nil && s.Old.ID != "" {
		out = append(out, "[id="+cleanLine(s.Old.ID)+"]")
	}
	if !p.steps.ShowURNs {
		out = append(out, "[urn="+cleanLine(string(s.URN))+"]")
	}
	was, is := "", ""
	if s.Old != nil {
		was = s.Old.Provider
	}
	if s.New != nil {
		is = s.New.Provider
	}
	switch {
	case was != "" && is != "" && was != is:
		out = append(out, "[provider: "+cleanLine(was)+arrow+cleanLine(is)+"]")
	case s.Provider != "" && !strings.Contains(s.Provider, "::default::") && !strings.Contains(s.Provider, "::default_"):
		out = append(out, "[provider="+cleanLine(s.Provider)+"]")
	}
	return out
}

// hiddenOf parses the paths that a resource hides. It ignores texts that are not paths.
func hiddenOf(s stages.StepInfo) (out []property.Path) {
	r := cmp.Or(s.New, s.Old)
	if r == nil {
		return nil
	}
	for _, text := range r.HideDiff {
		if path, err := property.ParsePath(text); err == nil && len(path) > 0 {
			out = append(out, path)
		}
	}
	return out
}

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
