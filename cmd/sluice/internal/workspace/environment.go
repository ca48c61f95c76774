package workspace

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

const keyImports = "imports"

// Environments are the environments that a stack file names.
type Environments struct{ doc *document }

// node returns the environments in the file, nil if there are none: a list of names, or a definition.
func (e *Environments) node() *yaml.Node {
	_, v := child(e.doc.root(), keyEnvironment)
	if v = resolve(v); v == nil || isNull(v) || len(v.Content) == 0 {
		return nil
	}
	return v
}

// Definition returns the definition of the environments of the stack, in YAML, nil if it has none.
func (e *Environments) Definition() ([]byte, error) {
	node := e.node()
	switch {
	case node == nil:
		return nil, nil
	case node.Kind == yaml.MappingNode:
		return yaml.Marshal(node)
	}
	names, err := e.Names()
	if err != nil {
		return nil, err
	}
	return EnvironmentOf(names)
}

// EnvironmentOf returns the definition of an environment that imports others.
func EnvironmentOf(names []string) ([]byte, error) {
	return json.Marshal(map[string][]string{keyImports: names})
}

// list returns the list of environments, nil if the file has none.
func (e *Environments) list() *yaml.Node {
	node := e.node()
	if node != nil && node.Kind == yaml.MappingNode {
		_, node = child(node, keyImports)
	}
	return resolve(node)
}

// Names returns the names of the environments of the stack, in their order.
func (e *Environments) Names() ([]string, error) {
	list := e.list()
	if list == nil || isNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, e.doc.errorAt(list.Line, "the environments of a stack are a list of names, not "+describe(list), "")
	}
	var names []string
	for _, n := range list.Content {
		name, is := importName(n)
		if !is {
			return nil, e.doc.errorAt(n.Line, "an environment is named by a text, not "+describe(n), "")
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

// Add adds environments at the end of the list. Later environments take precedence.
func (e *Environments) Add(names []string) error {
	if _, err := e.Names(); err != nil {
		return err
	}
	parent, key := e.doc.root(), keyEnvironment
	if node := e.node(); node != nil && node.Kind == yaml.MappingNode {
		parent, key = node, keyImports
	}
	list := e.list()
	if list == nil || isNull(list) {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		setChild(parent, key, list)
	}
	list.Style = 0
	for _, name := range names {
		list.Content = append(list.Content, newText(name))
	}
	e.doc.changed, e.doc.whole = true, true
	return nil
}

// Set sets the list of environments of a stack. It does nothing if the list is the same.
func (e *Environments) Set(names []string) error {
	if now, err := e.Names(); err != nil || slices.Equal(now, names) {
		return err
	}
	removeChild(e.doc.root(), keyEnvironment)
	return e.Add(names)
}

// Remove removes the last mention of an environment, and reports whether there was one.
func (e *Environments) Remove(name string) (bool, error) {
	names, err := e.Names()
	if err != nil {
		return false, err
	}
	list := e.list()
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] != name {
			continue
		}
		list.Content = slices.Delete(list.Content, i, i+1)
		if node := e.node(); node == nil {
			removeChild(e.doc.root(), keyEnvironment)
		}
		e.doc.changed, e.doc.whole = true, true
		return true, nil
	}
	return false, nil
}

// EnvironmentKey parses the name of a setting in an environment.
func EnvironmentKey(text, project string) (Key, error) {
	k, err := ParseKey(text, project)
	if err != nil {
		return k, fmt.Errorf("pulumiConfig of the environments of the stack: %w", err)
	}
	return k, nil
}
