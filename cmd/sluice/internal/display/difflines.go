package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// compare prints the difference between two values. It prints nothing if they are equal.
func (p *diffPrinter) compare(depth int, label string, at property.Path, old, new property.Value) {
	if property.Equal(old, new) {
		return
	}
	if p.isHidden(at) {
		p.add(depth, changed, at.String()+" (hidden)")
		return
	}
	switch {
	case old.IsNull():
		p.value(depth, added, label, new)
		return
	case new.IsNull():
		p.value(depth, removed, label, old)
		return
	}
	oldInner, oldShown := visible(old, p.showSecrets)
	newInner, newShown := visible(new, p.showSecrets)
	if !oldShown || !newShown {
		p.add(depth, changed, label+p.scalar(old)+" => "+p.scalar(new))
		return
	}
	p.compareShown(depth, label, at, oldInner, newInner)
}

func (p *diffPrinter) compareShown(depth int, label string, at property.Path, old, new property.Value) {
	switch {
	case old.IsMap() && new.IsMap():
		p.add(depth, changed, label+"{")
		p.compareMaps(depth+1, at, old.AsMap(), new.AsMap(), nil)
		p.add(depth, same, "}")
	case old.IsArray() && new.IsArray():
		p.add(depth, changed, label+"[")
		p.compareArrays(depth+1, at, old.AsArray(), new.AsArray())
		p.add(depth, same, "]")
	case isCollection(old) || isCollection(new):
		p.value(depth, removed, label, old)
		p.value(depth, added, label, new)
	case old.IsString() && new.IsString():
		p.compareTexts(depth, label, at, old, new)
	default:
		p.add(depth, changed, label+p.scalar(old)+" => "+p.scalar(new))
	}
}

func isCollection(v property.Value) bool {
	return v.IsMap() && v.AsMap().Len() > 0 || v.IsArray() && v.AsArray().Len() > 0
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
		return property.IsInternalName(name) || (only != nil && !slices.Contains(only, name)) ||
			property.Equal(old.At(name), new.At(name))
	})
	width := labelWidth(names)
	for i, name := range names {
		if i == maxElementsShown && !p.full {
			p.add(depth, changed, fmt.Sprintf("... and %d more", len(names)-i))
			return
		}
		p.compare(depth, padLabel(name, width), at.With(property.Key(name)), old.At(name), new.At(name))
	}
}

func (p *diffPrinter) compareArrays(depth int, at property.Path, old, new property.Array) {
	printed := 0
	for i := range max(old.Len(), new.Len()) {
		o, n := property.Null, property.Null
		if i < old.Len() {
			o = old.At(i)
		}
		if i < new.Len() {
			n = new.At(i)
		}
		if property.Equal(o, n) {
			continue
		}
		if printed++; printed > maxElementsShown && !p.full {
			p.add(depth, changed, "... and more")
			return
		}
		p.compare(depth, fmt.Sprintf("[%d]: ", i), at.With(property.Index(i)), o, n)
	}
}

// compareTexts prints two texts: as JSON if both hold JSON, line by line if they have several lines, else on one line.
func (p *diffPrinter) compareTexts(depth int, label string, at property.Path, old, new property.Value) {
	oldParsed, oldOK := embeddedJSON(old)
	newParsed, newOK := embeddedJSON(new)
	if oldOK && newOK && !property.Equal(oldParsed, newParsed) {
		p.compareShown(depth, label+"(json) ", at, oldParsed, newParsed)
		return
	}
	a, b := old.AsString(), new.AsString()
	if !strings.Contains(a, "\n") || !strings.Contains(b, "\n") {
		p.add(depth, changed, label+p.text(a)+" => "+p.text(b))
		return
	}
	p.add(depth, changed, label+`"""`)
	p.compareLines(depth+1, a, b)
	p.add(depth, same, `"""`)
}

// contextLines is how many equal lines are shown around differing ones.
const contextLines = 2

// compareLines prints the part in which two texts differ, with some lines around it. It skips equal lines at both ends
// without splitting them.
func (p *diffPrinter) compareLines(depth int, old, new string) {
	head := commonHead(old, new)
	before := lastLines(old[:head], contextLines)
	old, new = old[head:], new[head:]
	tail := commonTail(old, new)
	after := old[len(old)-tail:]
	old, new = old[:len(old)-tail], new[:len(new)-tail]
	if head > len(before) {
		p.add(depth, same, "...")
	}
	p.textLines(depth, same, before, contextLines)
	p.textLines(depth, removed, old, maxElementsShown)
	p.textLines(depth, added, new, maxElementsShown)
	p.textLines(depth, same, after, contextLines)
}

// commonHead returns the length of the equal whole lines at the beginning.
func commonHead(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			n = i + 1
		}
	}
	return n
}

// commonTail returns the length of the equal whole lines at the end. Both texts begin at the start of a line.
func commonTail(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i
	}
	if n := strings.IndexByte(a[len(a)-i:], '\n'); n >= 0 {
		if wholeLine := (i == len(a) || a[len(a)-i-1] == '\n') && (i == len(b) || b[len(b)-i-1] == '\n'); wholeLine {
			return i
		}
		return i - n - 1
	}
	return 0
}

func lastLines(s string, n int) string {
	at := len(s)
	for range n + 1 {
		i := strings.LastIndexByte(s[:max(at-1, 0)], '\n')
		if i < 0 {
			return s
		}
		at = i + 1
		if strings.Count(s[at:], "\n") >= n {
			break
		}
	}
	return s[at:]
}

func (p *diffPrinter) textLines(depth int, m mark, s string, limit int) {
	for i := 0; s != ""; i++ {
		if i == limit && (!p.full || m == same) {
			p.add(depth, m, "...")
			return
		}
		text, rest, _ := strings.Cut(s, "\n")
		s = rest
		if !p.full && len(text) > 4*maxTextShown {
			text = strings.ToValidUTF8(text[:4*maxTextShown], "") + "..."
		}
		p.add(depth, m, cleanLine(text))
	}
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
