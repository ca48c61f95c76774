package codegen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/property"
)

// writeYAML writes the "resources" block of a Pulumi YAML program (protocol.md 11.4).
func writeYAML(doc *document) ([]byte, error) {
	w := &yamlWriter{}
	resources := mapping()
	var comments []string
	for _, d := range doc.resources {
		if d.isLocal {
			comments = append(comments, fmt.Sprintf("%s is a component of the type %s. YAML programs cannot declare components:\n"+
				"what has it as its parent can only be declared in another language.", d.variable, d.token))
			continue
		}
		key := scalar(d.variable)
		key.HeadComment = comment("#", d.notes)
		resources.Content = append(resources.Content, key, w.resource(d))
	}
	root := mapping()
	if len(resources.Content) > 0 {
		entry(root, "resources", resources)
	}
	var out bytes.Buffer
	out.WriteString(settingsComment("#", doc.settings))
	for _, c := range comments {
		out.WriteString(comment("#", []string{c}) + "\n")
	}
	if len(root.Content) == 0 {
		return out.Bytes(), nil
	}
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

type yamlWriter struct{}

func (w *yamlWriter) resource(d *declaration) *yaml.Node {
	n := mapping()
	entry(n, "type", text(string(shortToken(d.token))))
	if d.variable != d.name() {
		entry(n, "name", text(d.name()))
	}
	if len(d.properties) > 0 {
		entry(n, "properties", w.fields(d.properties))
	}
	options := mapping()
	if d.parent != "" {
		entry(options, "parent", scalar("${"+d.parent+"}"))
	}
	if d.provider != "" {
		entry(options, "provider", scalar("${"+d.provider+"}"))
	}
	if d.state.Protect {
		entry(options, "protect", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
	if len(options.Content) > 0 {
		entry(n, "options", options)
	}
	return n
}

func (w *yamlWriter) fields(fs []field) *yaml.Node {
	n := mapping()
	for _, f := range fs {
		n.Content = append(n.Content, text(f.name), w.value(f.value))
	}
	return n
}

func (w *yamlWriter) value(e expression) *yaml.Node {
	switch e := e.(type) {
	case literal:
		return w.literal(e.value)
	case list:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range e.items {
			n.Content = append(n.Content, w.value(item))
		}
		return n
	case object:
		return w.fields(e.fields)
	case asset:
		return function(strings.ToLower(e.constructor[:1])+e.constructor[1:], text(e.text))
	case members:
		return function("assetArchive", w.fields(e.fields))
	case idOf:
		return scalar("${" + e.variable + ".id}")
	case setting:
		return scalar("${" + e.key + "}")
	case secretly:
		return function("secret", w.value(e.value))
	case mismatched:
		return w.value(e.value)
	}
	return w.literal(property.Null)
}

func (w *yamlWriter) literal(v property.Value) *yaml.Node {
	switch {
	case v.IsString():
		return text(v.AsString())
	case v.IsBool():
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v.AsBool())}
	case v.IsNumber():
		digits := number(v.AsNumber())
		tag := "!!int"
		if strings.ContainsAny(digits, ".eEIN") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: digits}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// text returns a string in which nothing is interpolated.
func text(s string) *yaml.Node { return scalar(strings.ReplaceAll(s, "${", "$${")) }

// scalar returns a string with interpolation.
func scalar(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case strings.ContainsFunc(s, needsEscape), s != strings.TrimSpace(s), oldBool[strings.ToLower(s)]:
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(s, "\n"):
		n.Style = yaml.LiteralStyle
	}
	return n
}

// oldBool are the words that other YAML parsers read as booleans.
var oldBool = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true}

// needsEscape reports whether a character is a line end for some parsers, or cannot occur in YAML unescaped.
func needsEscape(r rune) bool {
	return r != '\n' && !unicode.IsPrint(r)
}

func entry(m *yaml.Node, name string, value *yaml.Node) {
	m.Content = append(m.Content, scalar(name), value)
}

func function(name string, argument *yaml.Node) *yaml.Node {
	n := mapping()
	entry(n, "fn::"+name, argument)
	return n
}
