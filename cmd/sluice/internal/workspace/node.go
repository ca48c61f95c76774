package workspace

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

func newMapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func newText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.Contains(s, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// resolve returns the node that an alias refers to.
func resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// child returns the key node and the value node of a mapping's entry, nil if there is none.
func child(mapping *yaml.Node, key string) (k, v *yaml.Node) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if resolve(mapping.Content[i]).Value == key {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// setChild sets the value of key. An existing entry keeps its position and the comments of its old value.
func setChild(mapping *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if resolve(mapping.Content[i]).Value == key {
			replaceNode(mapping, i+1, v)
			return
		}
	}
	if len(mapping.Content) == 0 {
		mapping.Style = 0 // "{}" becomes block style when it gets its first entry
	}
	mapping.Content = append(mapping.Content, newText(key), v)
}

// lineComment returns the comment beside a value. That of a ciphertext is beside the text.
func lineComment(v *yaml.Node) string {
	if isSecure(v) {
		return v.Content[1].LineComment
	}
	return v.LineComment
}

func replaceNode(parent *yaml.Node, i int, v *yaml.Node) {
	old := parent.Content[i]
	if v != old {
		v.HeadComment, v.LineComment, v.FootComment = old.HeadComment, lineComment(old), old.FootComment
		if isSecure(v) {
			v.Content[1].LineComment, v.LineComment = v.LineComment, "" // a ciphertext is one line, too
		}
		if v.Kind != yaml.ScalarNode && len(v.Content) > 0 && v.LineComment != "" {
			// A comment beside a collection would move into its first line.
			v.HeadComment, v.LineComment = "", ""
		}
	}
	parent.Content[i] = v
}

// removeChild deletes an entry, and reports whether it existed.
func removeChild(mapping *yaml.Node, key string) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if resolve(mapping.Content[i]).Value == key {
			mapping.Content = append(mapping.Content[:i:i], mapping.Content[i+2:]...)
			return true
		}
	}
	return false
}

// describe returns a description of a node, for messages.
func describe(n *yaml.Node) string {
	switch n = resolve(n); n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "a boolean"
	case "!!int":
		return "an integer"
	case "!!float":
		return "a number"
	}
	return "a text"
}
