package syntax

import (
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/text/yamlfault"
)

// maxDepth limits how deeply lists and objects may be nested. It is also the limit of the wire format.
const maxDepth = 500

// Parse reads a document. The node is nil when there are errors, and when the document is empty. Numbers are float64.
// Timestamps and other types without a kind of their own stay text (protocol.md 11.1).
func Parse(name, text string) (*File, *Node, Diagnostics) {
	f := NewFile(name, text)
	var d Diagnostics
	if strings.HasSuffix(strings.ToLower(name), ".json") {
		text, f.shifts = plainJSON(text)
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return f, nil, d
		}
		d.Add(syntaxError(f, text, err))
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
var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`line (\d+): `) })

// structural matches the errors of the library's parser, as opposed to those of its scanner.
var structural = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^did not find expected (',' or|'-'|key|node|<)`) })

func syntaxError(f *File, text string, err error) Diagnostic {
	summary := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := yamlLine().FindStringSubmatchIndex(summary); m != nil {
		line, _ = strconv.Atoi(summary[m[2]:m[3]])
		summary = summary[:m[0]] + summary[m[1]:]
		if structural().MatchString(summary) {
			line++ // for those, the library counts lines from 0
		}
	}
	at := f.wholeLine(line)
	if p, found := yamlfault.Find(text, summary); found {
		at = Range{Line: p.Line, Column: f.column(p.Line, p.Column), End: f.column(p.Line, p.End)}
		if p.Opened != "" {
			summary += " of " + p.Opened
		}
	}
	return Diagnostic{Severity: Error, Range: at, Summary: "this is not YAML: " + summary}
}

// plainJSON rewrites the parts of JSON that YAML lacks: tabs between tokens, escaped slashes, and escaped surrogate
// pairs. A JSON string cannot contain a tab, so no string changes. The shifts record where the text became shorter.
func plainJSON(text string) (string, map[int][]shift) {
	var b strings.Builder
	shifts := map[int][]shift{}
	line, column := 1, 1 // of the output
	write := func(written string, instead int) {
		b.WriteString(written)
		column += width(written)
		if by := instead - width(written); by > 0 {
			if known := shifts[line]; len(known) > 0 {
				by += known[len(known)-1].by
			}
			shifts[line] = append(shifts[line], shift{column, by})
		}
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			b.WriteByte('\n')
			line, column = line+1, 1
		case text[i] == '\t':
			write(" ", 1)
		case text[i] != '\\' || i+1 == len(text):
			_, size := utf8.DecodeRuneInString(text[i:])
			write(text[i:i+size], 1)
			i += size - 1
		case text[i+1] == '/':
			write("/", 2)
			i++
		default:
			if r, ok := surrogatePair(text[i:]); ok {
				write(string(r), len(`\ud83d\ude00`))
				i += len(`\ud83d\ude00`) - 1
				continue
			}
			write(text[i:i+2], 2)
			i++
		}
	}
	return b.String(), shifts
}

// surrogatePair decodes an escaped surrogate pair at the beginning of a text.
func surrogatePair(text string) (rune, bool) {
	if len(text) < 12 || text[1] != 'u' || text[6:8] != `\u` {
		return 0, false
	}
	high, err := strconv.ParseUint(text[2:6], 16, 32)
	low, err2 := strconv.ParseUint(text[8:12], 16, 32)
	r := utf16.DecodeRune(rune(high), rune(low))
	return r, err == nil && err2 == nil && r != unicode.ReplacementChar
}

type parser struct {
	file        *File
	diagnostics *Diagnostics
	open        map[*yaml.Node]bool // nodes with anchors whose aliases are being expanded
	expanded    int                 // nodes that aliases have made
}

// maxExpanded limits the number of values that the aliases of a document make: aliases of aliases grow without end.
const maxExpanded = 100_000

func (p *parser) fail(at Range, format string, args ...any) {
	p.diagnostics.Add(Diagnostic{Severity: Error, Range: at, Summary: fmt.Sprintf(format, args...)})
}

func (p *parser) node(y *yaml.Node, depth int) *Node {
	n := &Node{Range: p.file.rangeOf(y)}
	if len(p.open) > 0 {
		if p.expanded++; p.expanded > maxExpanded {
			if p.expanded == maxExpanded+1 {
				p.fail(n.Range, "aliases make more than %d values", maxExpanded)
			}
			return n
		}
	}
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
		return p.alias(n, y, depth)
	}
	return n
}

// alias returns the value of an alias. Its places are those of the anchor, where the text is.
func (p *parser) alias(n *Node, y *yaml.Node, depth int) *Node {
	if y.Alias == nil || p.open[y.Alias] {
		p.fail(n.Range, "the alias *%s is in its own value", y.Value)
		return n
	}
	if p.open == nil {
		p.open = map[*yaml.Node]bool{}
	}
	p.open[y.Alias] = true
	defer delete(p.open, y.Alias)
	return p.node(y.Alias, depth)
}

// merged returns the entries that a merge key adds: those of an object, or of several, of which the first that has a key counts.
func (p *parser) merged(y *yaml.Node, depth int) []Entry {
	value := p.node(y, depth)
	objects := []*Node{value}
	if value.Kind == List {
		objects = value.Items
	}
	var out []Entry
	for _, o := range objects {
		if o.Kind != Object {
			p.fail(value.Range, "the merge key << takes an object or a list of objects; put the key in quotes if it is meant as such")
			return nil
		}
		out = append(out, o.Entries...)
	}
	return out
}

func (p *parser) object(n *Node, y *yaml.Node, depth int) {
	seen := map[string]Range{}
	merges := false
	for i := 0; i+1 < len(y.Content); i += 2 {
		if isMergeKey(y.Content[i]) {
			merges = true
			continue
		}
		key := p.node(y.Content[i], depth+1)
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
	if !merges {
		return
	}
	// The object's own keys take precedence, wherever the merge key is.
	for i := 0; i+1 < len(y.Content); i += 2 {
		if !isMergeKey(y.Content[i]) {
			continue
		}
		for _, e := range p.merged(y.Content[i+1], depth+1) {
			if _, has := seen[e.Key.Text]; !has {
				seen[e.Key.Text] = e.Key.Range
				n.Entries = append(n.Entries, e)
			}
		}
	}
}

// isMergeKey reports whether a key is that of YAML's merges.
func isMergeKey(y *yaml.Node) bool { return y.ShortTag() == "!!merge" }

func (p *parser) scalar(n *Node, y *yaml.Node) {
	n.Kind, n.Text = String, y.Value
	var v any
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Text = Null, ""
		return
	case "!!bool", "!!int", "!!float":
		if err := y.Decode(&v); err != nil {
			p.fail(n.Range, "%q is not a value of its type: %v", y.Value, err)
			return
		}
	}
	switch v := v.(type) {
	case bool:
		n.Kind, n.Bool = Bool, v
	case int:
		p.number(n, float64(v), int64(float64(v)) == int64(v))
	case int64:
		p.number(n, float64(v), int64(float64(v)) == v)
	case uint64:
		p.number(n, float64(v), uint64(float64(v)) == v)
	case float64:
		p.number(n, v, strings.ContainsAny(y.Value, ".eE") || math.Abs(v) < 1<<53)
	}
}

// number sets the number of a node. Numbers are float64 everywhere, which cannot hold all large integers.
func (p *parser) number(n *Node, v float64, isExact bool) {
	n.Kind, n.Number = Number, v
	if !isExact {
		p.diagnostics.Add(Diagnostic{Severity: Warning, Range: n.Range, Hint: "put it in quotes if it is a name or an ID",
			Summary: fmt.Sprintf("the number %s is too large to be kept exactly; it becomes %s", n.Text, strconv.FormatFloat(v, 'f', -1, 64))})
	}
}
