package workspace

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/sluice-iac/sluice/property"
)

// MergeKey is the setting that lists the settings whose objects are merged into those of the project file.
func MergeKey() Key { return Key{"sluice", "merge"} }

// merge replaces each setting that [MergeKey] names by the project's object, with the parts of the environments and of the stack merged into it.
func merge(p *Project, f *StackFile, values map[Key]Value) error {
	keys, err := mergedKeys(p, values)
	if err != nil {
		return err
	}
	for _, d := range keys {
		v, set := values[d.Key]
		layers := layersOf(f, d.Key)
		if own, _ := d.own(); set && len(layers) > 0 && (!d.Secret || HasSecrets(v)) {
			for _, l := range layers {
				own = patched(own, l.value)
			}
			if values[d.Key] = own; d.Secret {
				values[d.Key] = Declared{own}
			}
		}
	}
	return nil
}

// mergedKeys returns the declarations of the settings that are merged.
func mergedKeys(p *Project, values map[Key]Value) (list []*Declaration, err error) {
	names, err := mergeNames(values[MergeKey()])
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		key, err := ParseKey(name, p.Name)
		if err != nil {
			return nil, configErrorf("%s: %v", MergeKey(), err)
		}
		at := slices.IndexFunc(p.Declarations, func(d Declaration) bool { return d.Key == key })
		if at < 0 {
			return nil, configErrorf("%s names %s, which %s does not declare; declare it under `config` with an object, or remove its name", MergeKey(), name, filepath.Base(p.Path))
		}
		d := &p.Declarations[at]
		if v, given := d.own(); !given || !isMapping(v) {
			return nil, configErrorf("%s names %s, for which %s has no object; write one as its `default` or `value`, or remove its name from %s", MergeKey(), name, filepath.Base(p.Path), MergeKey())
		}
		list = append(list, d)
	}
	return list, nil
}

// mergeNames returns the names in the value of [MergeKey]: a list, or its JSON.
func mergeNames(v Value) ([]string, error) {
	list, isList := v.([]any)
	if text, is := v.(string); is {
		isList = json.Unmarshal([]byte(text), &list) == nil
	}
	if v == nil || isList && len(list) == 0 {
		return nil, nil
	}
	names := make([]string, len(list))
	for i, e := range list {
		name, is := e.(string)
		isList, names[i] = isList && is, name
	}
	if !isList {
		return nil, configErrorf("%s must be a list of settings, such as [settings, network]", MergeKey())
	}
	return names, nil
}

func isMapping(v Value) bool {
	_, is := v.(map[string]any)
	return is
}

// patched returns a value with a patch in the sense of a JSON merge patch (RFC 7396): objects are merged, null removes, everything else replaces.
func patched(v, patch Value) Value {
	over, is := patch.(map[string]any)
	if !is {
		return patch
	}
	out := map[string]any{}
	if below, is := v.(map[string]any); is {
		out = maps.Clone(below)
	}
	for name, part := range over {
		if part == nil {
			delete(out, name)
			continue
		}
		out[name] = patched(out[name], part)
	}
	return out
}

// layer is a value of a setting in one place.
type layer struct {
	value Value
	from  string
}

// layersOf returns the values of a setting in the environments and in the file. Later ones take precedence.
func layersOf(f *StackFile, k Key) (list []layer) {
	if v, set := f.environment[k]; set {
		list = append(list, layer{v, "the environments of the stack"})
	}
	if v, set := f.settings.values[k]; set {
		from := filepath.Base(f.Path)
		if f.kept {
			from = f.Path
		}
		list = append(list, layer{v, fmt.Sprintf("%s:%d", from, f.Line(k))})
	}
	return list
}

// Recorded returns what the histories of a stack have of its effective settings: of an object that is merged only the part of the stack, and no
// secret that the project file has in plain text. The rest is in the project file.
func Recorded(p *Project, f *StackFile, values map[Key]Value) map[Key]Value {
	out, completed := maps.Clone(values), f.completed()
	keys, err := mergedKeys(p, values)
	for _, d := range keys {
		if v, set := completed[d.Key]; set && err == nil {
			out[d.Key] = v
		}
	}
	maps.DeleteFunc(out, func(_ Key, v Value) bool {
		_, declared := v.(Declared)
		return declared
	})
	return out
}

// Part is a part of a setting that is no object with parts of its own, with the place that it comes from.
type Part struct {
	Path  property.Path // the first element is the setting
	Value Value
	From  string
}

// Parts returns the parts of an effective setting, or of the part of it at the path at, in the order of their paths.
func Parts(p *Project, f *StackFile, k Key, at property.Path, v Value) []Part {
	layers := layersOf(f, k)
	for _, d := range p.Declarations {
		if own, given := d.own(); d.Key == k && given {
			layers = append([]layer{{own, fmt.Sprintf("%s:%d", filepath.Base(p.Path), d.Line)}}, layers...)
		}
	}
	hidden := func(v Value) Value { return v }
	if d, declared := v.(Declared); declared {
		v, hidden = d.Plain, func(v Value) Value { return Declared{v} }
	}
	var parts []Part
	var visit func(at property.Path, v Value)
	visit = func(at property.Path, v Value) {
		if object, is := v.(map[string]any); is && len(object) > 0 {
			for _, name := range slices.Sorted(maps.Keys(object)) {
				visit(append(slices.Clip(at), property.Element{Key: name}), object[name])
			}
			return
		}
		part := Part{Path: append(property.Path{{Key: k.Short(p.Name)}}, at...), Value: hidden(v)}
		for _, l := range slices.Backward(layers) {
			if _, has := valueAt(l.value, at); has {
				part.From = l.from
				break
			}
		}
		parts = append(parts, part)
	}
	visit(at, v)
	return parts
}
