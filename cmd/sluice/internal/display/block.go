package display

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// block renders a step with its properties (protocol.md 10.8). depth is the number of its visible ancestors.
func (p stepPrinter) block(s stages.StepInfo, depth int) string {
	var b strings.Builder
	indent := strings.Repeat("    ", depth)
	b.WriteString(indent + p.header(s) + "\n")
	for _, text := range p.identity(s) {
		b.WriteString(indent + "    " + p.style.paint(grey, text) + "\n")
	}
	printer := &diffPrinter{showSecrets: p.ShowSecrets, full: p.ShowFullOutput, hidden: hiddenOf(s)}
	printer.properties(s)
	for _, l := range printer.lines {
		text := string(l.mark) + " " + l.text
		b.WriteString(indent + strings.Repeat("    ", l.depth) + "  " + p.style.paint(l.mark.colour(), text) + "\n")
	}
	return b.String()
}

func (p stepPrinter) header(s stages.StepInfo) string {
	w := wordsFor(s.Op)
	subject := shortType(s.URN.Type()) + " " + cleanLine(s.URN.Name())
	if p.ShowURNs {
		subject = cleanLine(string(s.URN))
	}
	said := string(s.Op)
	if because := s.Reason.String(); because != "" && s.Op != stages.OpSame && s.Op != stages.OpCreate {
		said += ", " + because
	}
	if s.Old != nil && s.Old.RetainOnDelete && (s.Op == stages.OpDelete || s.Op == stages.OpDeleteReplaced) {
		said += " [retain]"
	}
	text := w.mark + subject + ": (" + said + ")"
	switch {
	case s.New != nil && s.New.Protect || s.New == nil && s.Old != nil && s.Old.Protect:
		text += " [protected]"
	case s.Old != nil && s.Old.Protect && s.New != nil:
		text += " [no longer protected]"
	}
	return p.style.paint(w.colour, text)
}

func (p stepPrinter) identity(s stages.StepInfo) []string {
	var out []string
	if s.Old != nil && s.Old.ID != "" {
		out = append(out, "[id="+cleanLine(s.Old.ID)+"]")
	}
	if !p.ShowURNs {
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
		out = append(out, "[provider: "+cleanLine(was)+" => "+cleanLine(is)+"]")
	case s.Provider != "" && !strings.Contains(s.Provider, "::default::") && !strings.Contains(s.Provider, "::default_"):
		out = append(out, "[provider="+cleanLine(s.Provider)+"]")
	}
	return out
}

func hiddenOf(s stages.StepInfo) []property.Path {
	if r := cmp.Or(s.New, s.Old); r != nil {
		return hiddenPaths(r.HideDiff)
	}
	return nil
}

// properties prints the properties that a step changes.
func (p *diffPrinter) properties(s stages.StepInfo) {
	switch {
	case s.Old == nil && s.New != nil:
		p.fields(0, added, s.New.Inputs)
	case s.Old != nil && s.New == nil:
		p.fields(0, removed, s.Old.Inputs)
	case s.Old == nil || s.Op == stages.OpSame:
	case len(s.DetailedDiff) > 0:
		p.detailed(s)
	default:
		var only []string
		if len(s.Diffs) > 0 {
			only = s.Diffs
		}
		p.compareMaps(0, nil, s.Old.Inputs, s.New.Inputs, only)
	}
}

// detailed prints only the paths that the provider names.
func (p *diffPrinter) detailed(s stages.StepInfo) {
	for _, text := range slices.Sorted(maps.Keys(s.DetailedDiff)) {
		d := s.DetailedDiff[text]
		path, err := property.ParsePath(text)
		if err != nil || len(path) == 0 {
			p.add(0, changed, cleanLine(text))
			continue
		}
		old := s.Old.Outputs
		if d.InputDiff {
			old = s.Old.Inputs
		}
		was, found := old.Lookup(path)
		if !found {
			was, _ = s.Old.Inputs.Lookup(path)
		}
		is, _ := s.New.Inputs.Lookup(path)
		p.detail(path, d, was, is)
	}
}

func (p *diffPrinter) detail(path property.Path, d providers.PropertyDiff, was, is property.Value) {
	label := cleanLine(path.String()) + ": "
	if d.Kind.IsReplace() {
		label = cleanLine(path.String()) + " (forces replacement): "
	}
	if p.isHidden(path) {
		p.add(0, changed, cleanLine(path.String())+" (hidden)")
		return
	}
	if p.insideSecret(path, was, is) {
		return
	}
	switch d.Kind {
	case providers.DiffAdd, providers.DiffAddReplace:
		p.value(0, added, label, is)
	case providers.DiffDelete, providers.DiffDeleteReplace:
		p.value(0, removed, label, was)
	default:
		before := len(p.lines)
		p.compare(0, label, path, was, is)
		if len(p.lines) == before { // the provider reports a difference that the values do not show
			p.add(0, changed, label+p.scalar(was)+" => "+p.scalar(is))
		}
	}
}

// insideSecret reports whether path leads into a secret. If so, it prints the path without values.
func (p *diffPrinter) insideSecret(path property.Path, was, is property.Value) bool {
	if len(path) < 2 || !was.IsNull() || !is.IsNull() {
		return false
	}
	p.add(0, changed, cleanLine(path.String())+": "+maskedText)
	return true
}

// stackOutputs prints all outputs of the stack and marks those that changed.
func (p *diffPrinter) stackOutputs(old, new property.Map) {
	var names []string
	names = append(names, new.Names()...)
	for _, name := range old.Names() {
		if _, kept := new.Get(name); !kept {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	width := labelWidth(names)
	for _, name := range names {
		was, is := old.At(name), new.At(name)
		label := padLabel(name, width)
		switch {
		case was.IsNull() && is.IsNull():
		case was.IsNull():
			p.value(0, added, label, is)
		case is.IsNull():
			p.value(0, removed, label, was)
		case property.Equal(was, is):
			p.value(0, same, label, is)
		default:
			p.compare(0, label, property.Path{property.Key(name)}, was, is)
		}
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
