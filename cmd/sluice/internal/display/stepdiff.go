package display

import (
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// stepDiff prints the changes of a step.
type stepDiff struct {
	diff    *diffPrinter
	step    stages.StepInfo
	printed map[string]bool // paths that have been compared
	left    int             // paths that are not printed, because there are too many
}

// print prints the properties that the step changes.
func (p *stepDiff) print() {
	switch s := p.step; {
	case s.Old == nil && s.New != nil:
		p.diff.values.fields(0, added, property.Path{}, s.New.Inputs)
	case s.Old != nil && s.New == nil:
		p.diff.values.forced = forcedPaths{} // the step of the replacement has these marks
		p.diff.values.fields(0, removed, property.Path{}, s.Old.Inputs)
	case s.Old == nil || s.Op == stages.OpSame:
	case len(s.DetailedDiff) > 0:
		p.detailed()
	default:
		var only []string
		if len(s.Diffs) > 0 {
			only = topLevel(slices.Concat(s.Diffs, s.Keys))
		}
		p.diff.compareMaps(0, nil, s.Old.Inputs, s.New.Inputs, only)
		for name := range p.diff.values.entered {
			p.printed[property.Path{property.Key(name)}.String()] = true
		}
	}
	if s := p.step; s.Old != nil && s.New != nil && s.Op != stages.OpSame {
		p.equalKeys()
		p.secrecy()
	}
	if p.left > 0 {
		p.diff.out.more(0, changed, p.left)
	}
}

// hasRoom reports whether one more path may be printed. If not, it counts the path.
func (p *stepDiff) hasRoom(places int) bool {
	if places < maxElementsShown || p.diff.format.full {
		return true
	}
	p.left++
	return false
}

// equalKeys prints the properties that force a replacement although their inputs are equal.
func (p *stepDiff) equalKeys() {
	s := p.step
	for i, name := range topLevel(s.Keys) {
		if at := (property.Path{property.Key(name)}); p.diff.values.forced.insideOrAt(at) && !p.diff.values.entered[name] && !property.IsInternalName(name) &&
			name != stages.InitErrorKey && property.Equal(s.Old.Inputs.At(name), s.New.Inputs.At(name)) {
			p.diff.values.enter(nil, name)
			p.diff.out.line(0, changed, label{name: cleanLine(s.Keys[i]), forces: true}, "the program gives the same as before")
		}
	}
}

// secrecy prints the values that have become a secret, or stopped being one. Providers ignore secrecy, and report no difference.
func (p *stepDiff) secrecy() {
	places := 0
	for _, name := range p.step.New.Inputs.Names() {
		if at := (property.Path{property.Key(name)}); !property.IsInternalName(name) {
			p.diff.format.property = name
			p.secrecyAt(&places, at, p.step.Old.Inputs.At(name), p.step.New.Inputs.At(name))
		}
	}
}

// secrecyAt checks a path and all paths inside it, except printed ones and those inside a secret. places counts the printed paths.
func (p *stepDiff) secrecyAt(places *int, at property.Path, old, new property.Value) {
	if p.printed[at.String()] || len(at) > maxDepthShown || property.Equal(old, new) {
		return
	}
	if isSecret(old) || isSecret(new) {
		if changesSecrecy(old, new) && !old.IsNull() && !new.IsNull() && p.hasRoom(*places) {
			*places++
			p.diff.compare(0, label{name: cleanLine(at.String())}, at, old, new)
		}
		return
	}
	if old.IsArray() && new.IsArray() && old.AsArray().Len() == new.AsArray().Len() {
		for i, v := range new.AsArray().All() {
			p.secrecyAt(places, at.With(property.Index(i)), old.AsArray().At(i), v)
		}
	}
	for name, v := range new.AsMap().All() {
		p.secrecyAt(places, at.With(property.Key(name)), old.AsMap().At(name), v)
	}
}

// topLevel returns the names of the top-level properties of paths.
func topLevel(paths []string) []string {
	out := make([]string, len(paths))
	for i, text := range paths {
		out[i] = text
		if path, err := property.ParsePath(text); err == nil && len(path) > 0 && !path[0].IsIndex {
			out[i] = path[0].Key
		}
	}
	return out
}

// detailed prints only the paths that the provider names. Providers name array items by index, even if only one item was inserted, so arrays are
// compared as a whole.
func (p *stepDiff) detailed() {
	s, places := p.step, 0
	arrays := map[string]bool{} // those that have been compared
	for _, text := range slices.Sorted(maps.Keys(s.DetailedDiff)) {
		d := s.DetailedDiff[text]
		path, err := property.ParsePath(text)
		if err != nil || len(path) == 0 {
			p.diff.out.add(0, changed, cleanLine(text))
			continue
		}
		p.diff.values.enter(nil, path[0].Key)
		p.printed[path.String()] = true
		if array := untilIndex(path); len(array) < len(path) {
			done, known := arrays[array.String()]
			if !known {
				done = p.array(array)
				arrays[array.String()], p.printed[array.String()] = done, done
			}
			if done {
				continue
			}
		}
		if !p.hasRoom(places) {
			continue
		}
		places++
		old := s.Old.Outputs
		if d.InputDiff {
			old = s.Old.Inputs
		}
		was, found := old.Lookup(path)
		if !found {
			old = s.Old.Inputs
			was, _ = old.Lookup(path)
		}
		is, _ := s.New.Inputs.Lookup(path)
		p.detail(path, d, secretIfAbove(old, path, was), secretIfAbove(s.New.Inputs, path, is))
	}
}

// untilIndex returns the path to the first array of a path.
func untilIndex(path property.Path) property.Path {
	if i := slices.IndexFunc(path, func(e property.Element) bool { return e.IsIndex }); i >= 0 {
		return path[:i]
	}
	return path
}

// array compares the old and the new inputs of a property, if both are arrays and differ, and reports whether it has done so.
func (p *stepDiff) array(path property.Path) bool {
	s := p.step
	was, _ := s.Old.Inputs.Lookup(path)
	is, _ := s.New.Inputs.Lookup(path)
	old, _ := was.Unwrap()
	new, _ := is.Unwrap()
	if len(path) == 0 || !old.IsArray() || !new.IsArray() || property.Equal(was, is) {
		return false
	}
	before := len(p.diff.out.lines)
	p.diff.compare(0, label{name: cleanLine(path.String())}, path, secretIfAbove(s.Old.Inputs, path, was), secretIfAbove(s.New.Inputs, path, is))
	p.diff.markForced(before, path)
	return true
}

// detail prints one path that the provider names.
func (p *stepDiff) detail(path property.Path, d providers.PropertyDiff, was, is property.Value) {
	l := label{name: cleanLine(path.String()), forces: p.diff.values.forced.isAt(path)}
	if p.diff.isHidden(path) {
		p.diff.out.add(0, changed, l.name+" (hidden)")
		return
	}
	if p.insideSecret(path, was, is) {
		return
	}
	before := len(p.diff.out.lines)
	switch d.Kind {
	case providers.DiffAdd, providers.DiffAddReplace:
		p.diff.values.print(0, added, l, is)
	case providers.DiffDelete, providers.DiffDeleteReplace:
		p.diff.values.print(0, removed, l, was)
	default:
		p.diff.compare(0, l, path, was, is)
		if len(p.diff.out.lines) == before { // the provider reports a difference that the values do not show
			p.diff.scalars(0, l, was, is, "")
		}
	}
	p.diff.markForced(before, path)
}

// insideSecret reports whether path leads into a secret. If so, it prints the path without values.
func (p *stepDiff) insideSecret(path property.Path, was, is property.Value) bool {
	if len(path) < 2 || !was.IsNull() || !is.IsNull() {
		return false
	}
	p.diff.out.line(0, changed, label{name: cleanLine(path.String()), forces: p.diff.values.forced.isAt(path)}, maskedText)
	return true
}
