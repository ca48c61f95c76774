package workspace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

const keyImports = "imports"

// environmentNode returns the environments in the file, nil if there are none: a list of names, or a definition.
func (f *StackFile) environmentNode() *yaml.Node {
	_, v := child(f.doc.root(), keyEnvironment)
	if v = resolve(v); v == nil || isNull(v) || len(v.Content) == 0 {
		return nil
	}
	return v
}

// Environment returns the definition of the environments of the stack, in YAML, nil if it has none.
func (f *StackFile) Environment() ([]byte, error) {
	node := f.environmentNode()
	switch {
	case node == nil:
		return nil, nil
	case node.Kind == yaml.MappingNode:
		return yaml.Marshal(node)
	}
	names, err := f.Imports()
	if err != nil {
		return nil, err
	}
	return EnvironmentOf(names)
}

// EnvironmentOf returns the definition of an environment that imports others.
func EnvironmentOf(names []string) ([]byte, error) {
	return json.Marshal(map[string][]string{keyImports: names})
}

// imports returns the list of environments, nil if the file has none.
func (f *StackFile) imports() *yaml.Node {
	node := f.environmentNode()
	if node != nil && node.Kind == yaml.MappingNode {
		_, node = child(node, keyImports)
	}
	return resolve(node)
}

// Imports returns the names of the environments of the stack, in their order.
func (f *StackFile) Imports() ([]string, error) {
	list := f.imports()
	if list == nil || isNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, f.doc.errorAt(list.Line, "the environments of a stack are a list of names, not "+describe(list), "")
	}
	var names []string
	for _, n := range list.Content {
		name, is := importName(n)
		if !is {
			return nil, f.doc.errorAt(n.Line, "an environment is named by a text, not "+describe(n), "")
		}
		names = append(names, name)
	}
	return names, nil
}

// importName returns the name of an environment in a list. It may have options.
func importName(n *yaml.Node) (string, bool) {
	n = resolve(n)
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 {
		n = resolve(n.Content[0])
	}
	return n.Value, n.Kind == yaml.ScalarNode
}

// AddImports adds environments at the end of the list. Later environments take precedence.
func (f *StackFile) AddImports(names []string) error {
	if _, err := f.Imports(); err != nil {
		return err
	}
	parent, key := f.doc.root(), keyEnvironment
	if node := f.environmentNode(); node != nil && node.Kind == yaml.MappingNode {
		parent, key = node, keyImports
	}
	list := f.imports()
	if list == nil || isNull(list) {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		setChild(parent, key, list)
	}
	list.Style = 0
	for _, name := range names {
		list.Content = append(list.Content, newText(name))
	}
	f.changed = true
	return nil
}

// SetImports sets the list of environments of a stack. It does nothing if the list is the same.
func (f *StackFile) SetImports(names []string) error {
	if now, err := f.Imports(); err != nil || slices.Equal(now, names) {
		return err
	}
	removeChild(f.doc.root(), keyEnvironment)
	return f.AddImports(names)
}

// RemoveImport removes the last mention of an environment, and reports whether there was one.
func (f *StackFile) RemoveImport(name string) (bool, error) {
	names, err := f.Imports()
	if err != nil {
		return false, err
	}
	list := f.imports()
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] != name {
			continue
		}
		list.Content = slices.Delete(list.Content, i, i+1)
		if node := f.environmentNode(); node == nil {
			removeChild(f.doc.root(), keyEnvironment)
		}
		f.changed = true
		return true, nil
	}
	return false, nil
}

// Complete adds the settings of a stack's environments: each one that the file does not set, and the missing parts of mappings. They are not written.
func (f *StackFile) Complete(values map[Key]Value) { f.environment = values }

// completed returns the settings of the file with those of its environments.
func (f *StackFile) completed() map[Key]Value {
	out := maps.Clone(f.values)
	if out == nil {
		out = map[Key]Value{}
	}
	for k, v := range f.environment {
		if own, set := out[k]; set {
			v = overlaid(own, v)
		}
		out[k] = v
	}
	return out
}

// overlaid returns v, with the parts that only under has.
func overlaid(v, under Value) Value {
	over, isMapping := v.(map[string]any)
	below, areMappings := under.(map[string]any)
	if !isMapping || !areMappings {
		return v
	}
	out := maps.Clone(below)
	for name, part := range over {
		if other, both := out[name]; both {
			part = overlaid(part, other)
		}
		out[name] = part
	}
	return out
}

// EnvironmentKey parses the name of a setting in an environment.
func EnvironmentKey(text, project string) (Key, error) {
	k, err := ParseKey(text, project)
	if err != nil {
		return k, fmt.Errorf("pulumiConfig of the environments of the stack: %w", err)
	}
	return k, nil
}
