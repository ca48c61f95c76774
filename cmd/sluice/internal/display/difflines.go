package display

import (
	"slices"

	"github.com/sluice-iac/sluice/internal/comparison"
	"github.com/sluice-iac/sluice/property"
)

// arrow stands between an old value and a new one.
const arrow = " → "

// compare prints the difference between two values. It prints nothing if they are equal.
func (p *diffPrinter) compare(depth int, l label, at property.Path, old, new property.Value) {
	if p.equal(old, new) {
		return
	}
	if p.isHidden(at) {
		p.add(depth, changed, cleanLine(at.String())+" (hidden)")
		return
	}
	l.forces = l.forces || p.forced.isAt(at)
	if !p.exact && (old.IsNull() || new.IsNull()) {
		p.compareWithNothing(depth, l, at, old, new)
		return
	}
	if !p.showSecrets && (isSecret(old) || isSecret(new)) {
		p.spans(depth, changed, l, span{text: maskedText, colour: red}, span{text: arrow, colour: grey}, span{text: maskedText, colour: green},
			span{text: secrecy(old, new)})
		return
	}
	oldInner, oldShown := visible(old, p.showSecrets)
	newInner, newShown := visible(new, p.showSecrets)
	if !oldShown || !newShown || !p.exact && property.Equal(oldInner, newInner) {
		p.scalars(depth, l, old, new, secrecy(old, new))
		return
	}
	p.compareShown(depth, l, at, oldInner, newInner)
}

func (p *diffPrinter) compareWithNothing(depth int, l label, at property.Path, old, new property.Value) {
	l.forces = l.forces || p.forced.insideOrAt(at)
	if old.IsNull() {
		p.value(depth, added, l, new)
	} else {
		p.value(depth, removed, l, old)
	}
}

func (p *diffPrinter) equal(old, new property.Value) bool {
	if p.exact {
		return property.Identical(old, new)
	}
	return property.Equal(old, new)
}

// secrecy describes whether a value has become a secret, or stopped being one. The masks of both values often look the same.
func secrecy(old, new property.Value) string {
	text := ""
	switch was, is := isSecret(old), isSecret(new); {
	case was == is:
		return ""
	case is:
		text = " (now secret"
	default:
		text = " (no longer secret"
	}
	if property.Equal(old.StripSecretsAndOutputs(), new.StripSecretsAndOutputs()) {
		return text + ", the same value)"
	}
	return text + ")"
}

// scalars prints two values on one line.
func (p *diffPrinter) scalars(depth int, l label, old, new property.Value, note string) {
	p.spans(depth, changed, l, span{text: p.scalar(old), colour: red}, span{text: arrow, colour: grey}, span{text: p.scalar(new), colour: green},
		span{text: note})
}

func (p *diffPrinter) compareShown(depth int, l label, at property.Path, old, new property.Value) {
	switch {
	case depth >= maxDepthShown:
		p.scalars(depth, l, old, new, " (they differ deeper inside)")
	case old.IsMap() && new.IsMap():
		p.line(depth, changed, l, "{")
		p.compareMaps(depth+1, at, old.AsMap(), new.AsMap(), nil)
		p.add(depth, same, "}")
	case old.IsArray() && new.IsArray():
		p.line(depth, changed, l, "[")
		p.compareArrays(depth+1, at, old.AsArray(), new.AsArray())
		p.add(depth, same, "]")
	case comparison.IsCollection(old) || comparison.IsCollection(new):
		l.forces = l.forces || p.forced.insideOrAt(at)
		p.value(depth, removed, l, old)
		p.value(depth, added, l, new)
	case old.IsString() && new.IsString():
		p.compareTexts(depth, l, at, old.AsString(), new.AsString())
	default:
		p.scalars(depth, l, old, new, "")
	}
}

// compareMaps prints the properties that differ. If only is not nil, it prints only these.
func (p *diffPrinter) compareMaps(depth int, at property.Path, old, new property.Map, only []string) {
	names := old.Names()
	for _, name := range new.Names() {
		if _, both := old.Get(name); !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		return !p.exact && property.IsInternalName(name) || only != nil && !slices.Contains(only, name) || p.equalAt(old, new, name)
	})
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.full {
			p.more(depth, changed, len(names)-i)
			return
		}
		p.enter(at, name)
		p.compareAt(depth, label{name: padName(name, width)}, at.With(property.Key(name)), old, new, name)
	}
}

// equalAt reports whether two objects have the same property, or both lack it.
func (p *diffPrinter) equalAt(old, new property.Map, name string) bool {
	was, inOld := old.Get(name)
	is, inNew := new.Get(name)
	return (!p.exact || inOld == inNew) && p.equal(was, is)
}

// compareAt compares the values of one name in two objects. In a document, a missing value differs from null.
func (p *diffPrinter) compareAt(depth int, l label, at property.Path, old, new property.Map, name string) {
	was, inOld := old.Get(name)
	is, inNew := new.Get(name)
	before := len(p.lines)
	switch {
	case p.exact && !inOld:
		p.value(depth, added, l, is)
	case p.exact && !inNew:
		p.value(depth, removed, l, was)
	default:
		p.compare(depth, l, at, was, is)
	}
	p.markForced(before, at)
}

// markForced marks the first line of a property if a change inside it forces a replacement and no line has such a mark.
func (p *diffPrinter) markForced(from int, at property.Path) {
	lines := p.lines[from:]
	if len(lines) == 0 || lines[0].label.name == "" || !p.forced.insideOrAt(at) || slices.ContainsFunc(lines, func(l line) bool { return l.label.forces }) {
		return
	}
	lines[0].label.forces = true
}

func (p *diffPrinter) isHidden(at property.Path) bool {
	return slices.ContainsFunc(p.hidden, func(h property.Path) bool { return h.Contains(at) })
}

// hiddenPaths parses the paths that a resource hides. It ignores texts that are not paths.
func hiddenPaths(texts []string) []property.Path {
	var out []property.Path
	for _, t := range texts {
		if path, err := property.ParsePath(t); err == nil && len(path) > 0 {
			out = append(out, path)
		}
	}
	return out
}
