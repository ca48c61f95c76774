package syntax

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxDepth is how deeply lists and objects may be nested. Values may be nested no deeper on the wire.
const maxDepth = 500

// Parse reads a document. The node is nil when there are errors, and when the document is empty. Numbers are float64,
// timestamps and whatever else has no type of its own here stay text (protocol.md 11.1).
func Parse(name, text string) (*File, *Node, Diagnostics) {
	f := NewFile(name, text)
	var d Diagnostics
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		text = plainJSON(text)
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return f, nil, d
		}
		d.add(syntaxError(f, err))
		return f, nil, d
	}
	if len(doc.Content) == 0 {
		return f, nil, d
	}
	p := &parser{file: f, diagnostics: &d}
	n := p.node(doc.Content[0], 0)
	if d.HasErrors() {
		return f, nil, d
	}
	return f, n, d
}

// yamlLine finds the line in the errors of the YAML library: "yaml: line 3: did not find expected ...".
var yamlLine = regexp.MustCompile(`line (\d+): `)

func syntaxError(f *File, err error) Diagnostic {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	var at Range
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ := strconv.Atoi(text[m[2]:m[3]])
		text = text[:m[0]] + text[m[1]:]
		at = f.wholeLine(line)
	}
	return Diagnostic{Severity: Error, Range: at, Summary: "this is not YAML: " + text}
}

// plainJSON rewrites what JSON has and YAML lacks: tabs between tokens, and characters written as two halves. No string
// of JSON contains a tab, so none is changed.
func plainJSON(text string) string {
	text = strings.ReplaceAll(text, "\t", " ")
	return surrogates.ReplaceAllStringFunc(text, func(pair string) string {
		high, _ := strconv.ParseUint(pair[2:6], 16, 32)
		low, _ := strconv.ParseUint(pair[8:12], 16, 32)
		return string(rune(0x10000 + (high-0xd800)<<10 + (low - 0xdc00)))
	})
}

var surrogates = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

type parser struct {
	file        *File
	diagnostics *Diagnostics
}

func (p *parser) fail(at Range, format string, args ...any) {
	p.diagnostics.add(Diagnostic{Severity: Error, Range: at, Summary: fmt.Sprintf(format, args...)})
}

func (p *parser) node(y *yaml.Node, depth int) *Node {
	n := &Node{Range: p.file.rangeOf(y)}
	if depth > maxDepth {
		p.fail(n.Range, "values are nested more than %d levels deep", maxDepth)
		return n
	}
	switch y.Kind {
	case yaml.ScalarNode:
		p.scalar(n, y)
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range y.Content {
			n.Items = append(n.Items, p.node(item, depth+1))
		}
	case yaml.MappingNode:
		n.Kind = Object
		p.object(n, y, depth)
	case yaml.AliasNode:
		p.fail(n.Range, "aliases such as *%s are not supported; write the value out, or make it a variable", y.Value)
	}
	return n
}

func (p *parser) object(n *Node, y *yaml.Node, depth int) {
	seen := map[string]Range{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := p.node(y.Content[i], depth+1)
		if isMerge := y.Content[i].ShortTag() == "!!merge"; isMerge {
			key.Kind, key.Text = String, y.Content[i].Value
		}
		if key.Kind != String {
			p.fail(key.Range, "keys must be strings, and this is %v; put it in quotes", key.Kind)
			continue
		}
		if first, twice := seen[key.Text]; twice {
			p.fail(key.Range, "the key %q is already in this object, in line %d", key.Text, first.Line)
			continue
		}
		seen[key.Text] = key.Range
		n.Entries = append(n.Entries, Entry{Key: key, Value: p.node(y.Content[i+1], depth+1)})
	}
}

func (p *parser) scalar(n *Node, y *yaml.Node) {
	n.Kind, n.Text = String, y.Value
	var v any
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Text = Null, ""
		return
	case "!!bool", "!!int", "!!float":
		if err := y.Decode(&v); err != nil {
			p.fail(n.Range, "%q is no value of its type: %v", y.Value, err)
			return
		}
	}
	switch v := v.(type) {
	case bool:
		n.Kind, n.Bool = Bool, v
	case int:
		n.Kind, n.Number = Number, float64(v)
	case int64:
		n.Kind, n.Number = Number, float64(v)
	case uint64:
		n.Kind, n.Number = Number, float64(v)
	case float64:
		n.Kind, n.Number = Number, v
	}
}
