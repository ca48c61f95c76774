package workspace

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/property"
)

// settings are the settings in a stack file: the mapping `config`. An edit changes the document and decodes it again.
type settings struct {
	doc      *document
	project  string
	values   map[Key]Value
	written  map[Key]string // the spelling of each key in the file
	warnings []string       // about the last decoded document
}

// load decodes the settings.
func (s *settings) load() error {
	s.values, s.written, s.warnings = map[Key]Value{}, map[Key]string{}, nil
	_, config := child(s.doc.root(), keyConfig)
	if config == nil || isNull(resolve(config)) {
		return nil
	}
	config = resolve(config)
	if config.Kind != yaml.MappingNode {
		return s.doc.errorAt(config.Line, "`config` must be a mapping of keys to values, not "+describe(config), "")
	}
	for i := 0; i+1 < len(config.Content); i += 2 {
		written := resolve(config.Content[i])
		if written.ShortTag() == "!!merge" {
			return s.doc.errorAt(written.Line, "merge keys (<<) are not supported", "write the values out")
		}
		key, err := ParseKey(written.Value, s.project)
		if err != nil {
			return s.doc.errorAt(written.Line, err.Error(), "")
		}
		if other, twice := s.written[key]; twice {
			return s.doc.errorAt(written.Line, fmt.Sprintf("%q and %q are the same setting", other, written.Value), "remove one of them")
		}
		if isNull(resolve(config.Content[i+1])) {
			s.warnings = append(s.warnings, fmt.Sprintf("%s:%d: %s has no value and counts as the empty text", s.doc.path, written.Line, written.Value))
		}
		v, err := s.doc.topValue(config.Content[i+1])
		if err != nil {
			return err
		}
		s.values[key], s.written[key] = v, written.Value
	}
	return nil
}

// line returns the line of the file that sets a setting, 0 if none does.
func (s *settings) line(k Key) int {
	written, set := s.written[k]
	if !set {
		return 0
	}
	_, config := child(s.doc.root(), keyConfig)
	node, _ := child(resolve(config), written)
	return node.Line
}

// set sets the value of a setting. If typed is set, this write keeps the type of a scalar (state.md 6.4).
func (s *settings) set(k Key, v Value, typed bool) error {
	if err := checkReserved(v); err != nil {
		return err
	}
	config, err := s.node()
	if err != nil {
		return err
	}
	node := nodeOf(v)
	if node.Kind == yaml.ScalarNode && !typed {
		node = newText(Text(v))
	}
	s.spellOut(config, k)
	setChild(config, k.String(), node)
	s.doc.changed = true
	return s.load()
}

// put is set, but the value may contain ciphertexts at any depth.
func (s *settings) put(k Key, v Value) error {
	config, err := s.node()
	if err != nil {
		return err
	}
	s.spellOut(config, k)
	setChild(config, k.String(), nodeOf(v))
	s.doc.changed = true
	return s.load()
}

// remove deletes a setting, and reports whether it existed.
func (s *settings) remove(k Key) (bool, error) {
	written, ok := s.written[k]
	if !ok {
		return false, nil
	}
	config, err := s.node()
	if err != nil {
		return false, err
	}
	removeChild(config, written)
	s.doc.changed = true
	return true, s.load()
}

// node returns the mapping of settings. It makes the mapping if there is none.
func (s *settings) node() (*yaml.Node, error) {
	_, config := child(s.doc.root(), keyConfig)
	if config != nil && config.Kind == yaml.AliasNode {
		return nil, s.doc.errorAt(config.Line, "`config` is an alias, which cannot be edited", "write the settings out")
	}
	if config == nil || isNull(config) {
		setChild(s.doc.root(), keyConfig, newMapping())
		_, config = child(s.doc.root(), keyConfig)
	}
	return config, nil
}

// spellOut rewrites the entry of a key, if there is one, to the full form of the key.
func (s *settings) spellOut(config *yaml.Node, k Key) {
	written, ok := s.written[k]
	if !ok || written == k.String() {
		return
	}
	if node, _ := child(config, written); node != nil && node.Kind == yaml.ScalarNode {
		node.Value = k.String()
	}
}

// setPath sets the value at a path inside a setting. The name of k is the text of the path (state.md 6.6). It makes
// missing lists and mappings on the way.
func (s *settings) setPath(k Key, v Value) error {
	top, rest, err := splitPath(k)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return s.set(top, v, false)
	}
	if err := checkReserved(v); err != nil {
		return err
	}
	config, err := s.node()
	if err != nil {
		return err
	}
	s.spellOut(config, top)
	_, node := child(config, top.String())
	if node != nil && node.Kind == yaml.AliasNode {
		return s.aliasError(node, k)
	}
	if node == nil || node.Kind == yaml.ScalarNode || isSecure(node) { // at the first level, the new value replaces a scalar
		setChild(config, top.String(), newContainer(rest[0]))
		_, node = child(config, top.String())
	}
	if err := s.setIn(node, rest, v, k); err != nil {
		return err
	}
	s.doc.changed = true
	return s.load()
}

// setIn sets the value at path inside node, which is a list or a mapping.
func (s *settings) setIn(node *yaml.Node, path property.Path, v Value, k Key) error {
	e := path[0]
	slot, err := s.slot(node, e, k)
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
		return s.aliasError(next, k)
	case isNull(next):
		next = newContainer(path[1])
		replaceNode(node, slot, next)
	case next.Kind == yaml.ScalarNode || isSecure(next):
		return configErrorf("%s: %s is a single value, which has no %s", k, path[:1], path[1:2])
	}
	return s.setIn(next, path[1:], v, k)
}

// slot returns the index in node.Content of the value that e names. It adds a null value if there is none.
func (s *settings) slot(node *yaml.Node, e property.Element, k Key) (int, error) {
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

// removePath deletes the value at a path, and reports whether it existed.
func (s *settings) removePath(k Key) (bool, error) {
	top, rest, err := splitPath(k)
	if err != nil {
		return false, err
	}
	if len(rest) == 0 {
		return s.remove(top)
	}
	config, err := s.node()
	if err != nil {
		return false, err
	}
	_, node := child(config, s.written[top])
	for _, e := range rest[:len(rest)-1] {
		if node != nil && node.Kind == yaml.AliasNode {
			return false, s.aliasError(node, k)
		}
		node = elementOf(node, e)
	}
	if node == nil || !removeElement(node, rest[len(rest)-1]) {
		return false, nil
	}
	s.doc.changed = true
	return true, s.load()
}

func (s *settings) aliasError(n *yaml.Node, k Key) error {
	return s.doc.errorAt(n.Line, fmt.Sprintf("%s is inside an alias, which cannot be edited", k), "write the value out")
}

func checkReserved(v Value) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := checkReserved(e); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, reserved := v[secureKey].(string); reserved && len(v) == 1 {
			return configErrorf("maps with the single key %q are reserved for secrets; use --secret, or another key", secureKey)
		}
		for _, e := range v {
			if err := checkReserved(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// SplitPath returns the setting that a path begins with, and the rest of the path.
func SplitPath(k Key) (Key, property.Path, error) { return splitPath(k) }

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
