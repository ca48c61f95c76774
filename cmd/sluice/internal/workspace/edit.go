package workspace

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"go.yaml.in/yaml/v3"
)

// SetPath sets the value at a path inside a setting. The name of k is the text of the path (state.md 6.6). It makes
// missing lists and mappings on the way.
func (f *StackFile) SetPath(k Key, v Value) error {
	top, rest, err := splitPath(k)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return f.Set(top, v, false)
	}
	if err := checkReserved(v); err != nil {
		return err
	}
	config, err := f.configNode()
	if err != nil {
		return err
	}
	f.spellOut(config, top)
	_, node := child(config, top.String())
	if node != nil && node.Kind == yaml.AliasNode {
		return f.aliasError(node, k)
	}
	if node == nil || node.Kind == yaml.ScalarNode || isSecure(node) { // at the first level, the new value replaces a scalar
		setChild(config, top.String(), newContainer(rest[0]))
		_, node = child(config, top.String())
	}
	if err := f.setIn(node, rest, v, k); err != nil {
		return err
	}
	f.changed = true
	return f.load()
}

// setIn sets the value at path inside node, which is a list or a mapping.
func (f *StackFile) setIn(node *yaml.Node, path property.Path, v Value, k Key) error {
	e := path[0]
	slot, err := f.slot(node, e, k)
	if err != nil {
		return err
	}
	if len(path) == 1 {
		replaceNode(node, slot, nodeOf(v))
		return nil
	}
	next := node.Content[slot]
	switch {
	case next.Kind == yaml.AliasNode:
		return f.aliasError(next, k)
	case isNull(next):
		next = newContainer(path[1])
		replaceNode(node, slot, next)
	case next.Kind == yaml.ScalarNode || isSecure(next):
		return configErrorf("%s: %s is a single value, which has no %s", k, path[:1], path[1:2])
	}
	return f.setIn(next, path[1:], v, k)
}

// slot returns the index in node.Content of the value that e names. It adds a null value if there is none.
func (f *StackFile) slot(node *yaml.Node, e property.Element, k Key) (int, error) {
	if node.Kind == yaml.MappingNode {
		if e.IsIndex {
			return 0, configErrorf("%s: the value there is a mapping, which has no index %d; name a key", k, e.Index)
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if resolve(node.Content[i]).Value == e.Key {
				return i + 1, nil
			}
		}
		if len(node.Content) == 0 {
			node.Style = 0
		}
		node.Content = append(node.Content, newText(e.Key), nodeOf(nil))
		return len(node.Content) - 1, nil
	}
	if !e.IsIndex {
		return 0, configErrorf("%s: the value there is a list, which has no key %q; name an index", k, e.Key)
	}
	fresh := len(node.Content) == 0
	switch {
	case e.Index < 0 || e.Index > maxNewList:
		return 0, configErrorf("%s: the index %d is out of range", k, e.Index)
	case e.Index > len(node.Content) && !fresh:
		return 0, configErrorf("%s: the list there has %d elements, so the next index is %d", k, len(node.Content), len(node.Content))
	}
	if fresh {
		node.Style = 0
	}
	for len(node.Content) <= e.Index {
		node.Content = append(node.Content, nodeOf(nil))
	}
	return e.Index, nil
}

// maxNewList limits the length of a list that one command can create by a large index.
const maxNewList = 10_000

// ValueAt returns the value at a path inside a setting.
func ValueAt(values map[Key]Value, k Key) (Value, bool, error) {
	top, rest, err := splitPath(k)
	if err != nil {
		return nil, false, err
	}
	v, ok := values[top]
	if d, declared := v.(Declared); declared {
		v, ok = valueAt(d.Plain, rest)
		return Declared{v}, ok, nil
	}
	if ok {
		v, ok = valueAt(v, rest)
	}
	return v, ok, nil
}

// valueAt returns a part of a value.
func valueAt(v Value, rest property.Path) (Value, bool) {
	ok := true
	for _, e := range rest {
		if !ok {
			return nil, false
		}
		switch c := v.(type) {
		case map[string]any:
			v, ok = c[e.Key]
			ok = ok && !e.IsIndex
		case []any:
			ok = e.IsIndex && e.Index >= 0 && e.Index < len(c)
			if ok {
				v = c[e.Index]
			}
		default:
			ok = false
		}
	}
	return v, ok
}

// RemovePath deletes the value at a path, and reports whether it existed.
func (f *StackFile) RemovePath(k Key) (bool, error) {
	top, rest, err := splitPath(k)
	if err != nil {
		return false, err
	}
	if len(rest) == 0 {
		return f.Remove(top)
	}
	config, err := f.configNode()
	if err != nil {
		return false, err
	}
	_, node := child(config, f.written[top])
	for _, e := range rest[:len(rest)-1] {
		if node != nil && node.Kind == yaml.AliasNode {
			return false, f.aliasError(node, k)
		}
		node = elementOf(node, e)
	}
	if node == nil || !removeElement(node, rest[len(rest)-1]) {
		return false, nil
	}
	f.changed = true
	return true, f.load()
}

func elementOf(node *yaml.Node, e property.Element) *yaml.Node {
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.SequenceNode && e.IsIndex && e.Index >= 0 && e.Index < len(node.Content):
		return node.Content[e.Index]
	case node.Kind == yaml.MappingNode && !e.IsIndex:
		_, v := child(node, e.Key)
		return v
	}
	return nil
}

func removeElement(node *yaml.Node, e property.Element) bool {
	switch {
	case elementOf(node, e) == nil:
		return false
	case e.IsIndex:
		node.Content = append(node.Content[:e.Index:e.Index], node.Content[e.Index+1:]...)
		return true
	}
	return removeChild(node, e.Key)
}

// splitPath parses the name of k as a path, and returns the setting and the path inside it.
func splitPath(k Key) (Key, property.Path, error) {
	p, err := property.ParsePathStrict(k.Name)
	if err != nil {
		return Key{}, nil, configErrorf("%s: %v", k, err)
	}
	if len(p) == 0 || p[0].IsIndex || p[0].Key == "" {
		return Key{}, nil, configErrorf("%s: a path begins with the name of a setting", k)
	}
	if strings.Contains(p[0].Key, ":") {
		return Key{}, nil, configErrorf("%s: the name of a setting must not contain \":\"", k)
	}
	if len(p) > maxDepth {
		return Key{}, nil, configErrorf("the path that begins with %s has more than %d elements", p[0].Key, maxDepth)
	}
	return Key{k.Namespace, p[0].Key}, p[1:], nil
}

func newContainer(e property.Element) *yaml.Node {
	if e.IsIndex {
		return nodeOf([]any{})
	}
	return newMapping()
}

func isSecure(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || resolve(n.Content[0]).Value != secureKey {
		return false
	}
	v := resolve(n.Content[1])
	return v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str"
}

func (f *StackFile) aliasError(n *yaml.Node, k Key) error {
	return f.doc.errorAt(n.Line, fmt.Sprintf("%s is inside an alias, which cannot be edited", k), "write the value out")
}
