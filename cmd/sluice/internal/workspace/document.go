package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/text/excerpt"
	"github.com/sluice-iac/sluice/internal/text/yamlfault"
)

// maxDepth bounds the nesting of values. Deeper values are refused, because they could overflow the stack of the
// process.
const maxDepth = 200

// maxExpanded bounds the number of nodes of a file after its aliases are expanded. It protects against documents that
// grow exponentially.
const maxExpanded = 2_000_000

var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a parsed file with its comments and the order of its keys.
type document struct {
	path    string
	text    []byte // of the file, for excerpts
	isJSON  bool
	node    *yaml.Node // a DocumentNode, so that comments before and after the root survive
	changed bool       // by an edit that is not saved
	whole   bool       // one of these edits cannot be made on another content
}

// parseDocument parses YAML, or JSON if the path ends in ".json". An empty file is parsed as an empty mapping.
func parseDocument(path string, data []byte) (*document, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	d := &document{path: path, text: data, isJSON: strings.EqualFold(filepath.Ext(path), ".json")}
	if !utf8.Valid(data) {
		return nil, d.errorAt(invalidUTF8Line(data), "the file is not UTF-8 text", "save it in UTF-8")
	}
	root, err := d.parse(data)
	if err != nil {
		return nil, err
	}
	d.node = root
	return d, d.validate()
}

func (d *document) parse(data []byte) (*yaml.Node, error) {
	empty := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{newMapping()}}
	if len(bytes.TrimSpace(data)) == 0 {
		return empty, nil
	}
	if d.isJSON {
		root, err := parseJSON(data)
		if err != nil {
			return nil, d.errorAt(err.line, err.problem, "correct the JSON")
		}
		return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}, nil
	}
	root, err := parseYAML(data)
	if err != nil {
		line, problem := splitYAMLError(err)
		at, found := yamlfault.Find(string(data), problem)
		if found {
			line = at.Line
		}
		advice := "correct the YAML"
		if indent := d.line(line); strings.Contains(indent[:len(indent)-len(strings.TrimLeft(indent, " \t"))], "\t") {
			advice = "indent with spaces instead of tabs"
		}
		problem = "invalid YAML file: " + problem // scripts look for the first words
		if at.Opened != "" {
			problem += " of " + at.Opened
		}
		fault := d.errorAt(line, problem, advice)
		if text := d.line(line); found && !strings.Contains(text, "\t") { // carets do not align below tabs
			fault.Excerpt = excerpt.Of(line, text, at.Column, at.End)
		}
		return nil, fault
	}
	if root.Kind == 0 || len(root.Content) == 0 { // only comments
		empty.HeadComment, empty.FootComment = root.HeadComment, root.FootComment
		if empty.HeadComment == "" {
			empty.HeadComment = strings.TrimSpace(string(data))
		}
		return empty, nil
	}
	if isNull(root.Content[0]) {
		m := newMapping()
		m.HeadComment, m.FootComment = root.Content[0].HeadComment, root.Content[0].FootComment
		root.Content[0] = m
	}
	return root, nil
}

// parseYAML parses YAML and recovers from panics of the parser, which has panicked on malformed input.
func parseYAML(data []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("yaml: the parser cannot read this: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	root = &yaml.Node{}
	if err := dec.Decode(root); err != nil {
		if err.Error() == "EOF" {
			return root, nil
		}
		return nil, err
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, fmt.Errorf("yaml: line %d: a second document begins here, only one is allowed", max(second.Line, 1))
	} else if err.Error() != "EOF" {
		return nil, err
	}
	return root, nil
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s).*)$`) })

func splitYAMLError(err error) (line int, problem string) {
	m := yamlLine().FindStringSubmatch(err.Error())
	if m == nil {
		return 0, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	if line > 0 && countsFromZero().MatchString(m[2]) {
		line++
	}
	return line, m[2]
}

// countsFromZero matches the messages whose lines the YAML parser counts from 0 instead of 1.
var countsFromZero = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^did not find expected (',' or|key|'-' indicator|<document start>|node content)`)
})

// validate refuses documents that the rest of the package does not support: a root that is not a mapping, duplicate
// keys, deep nesting.
func (d *document) validate() error {
	root := d.root()
	if root.Kind != yaml.MappingNode {
		return d.errorAt(root.Line, "the file must hold a mapping of keys to values, not "+describe(root), "")
	}
	budget := maxExpanded
	return d.validateNode(root, 0, &budget)
}

func (d *document) validateNode(n *yaml.Node, depth int, budget *int) error {
	if *budget--; *budget < 0 {
		return d.errorAt(n.Line, "the aliases of this file expand to too many values", "write the values out")
	}
	if depth > maxDepth {
		return d.errorAt(n.Line, fmt.Sprintf("values nest more than %d levels deep", maxDepth), "flatten them")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return d.validateNode(n.Alias, depth+1, budget)
	case yaml.MappingNode:
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := resolve(n.Content[i])
			if key.Kind != yaml.ScalarNode {
				return d.errorAt(key.Line, "a key must be a plain text, not "+describe(key), "")
			}
			if seen[key.Value] {
				return d.errorAt(key.Line, fmt.Sprintf("the key %q occurs twice", key.Value), "remove one of them")
			}
			seen[key.Value] = true
			if err := d.validateNode(n.Content[i+1], depth+1, budget); err != nil {
				return err
			}
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if err := d.validateNode(c, depth+1, budget); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) root() *yaml.Node { return d.node.Content[0] }

func (d *document) errorAt(line int, problem, advice string) *FileError {
	e := &FileError{Path: d.path, Line: line, Problem: problem, Advice: advice}
	if text := d.line(line); strings.TrimSpace(text) != "" && utf8.ValidString(text) {
		column, end := excerpt.Whole(text)
		if tab := strings.IndexByte(text, '\t'); tab >= 0 && tab < column-1 && !d.isJSON { // in YAML, a tab in the indentation is the fault
			column, end = tab+1, tab+2
		}
		e.Excerpt = excerpt.Of(line, text, column, end)
	}
	return e
}

// line returns a line of the file, counted from 1, "" if there is none.
func (d *document) line(n int) string {
	rest := d.text
	for ; n > 1; n-- {
		_, after, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			return ""
		}
		rest = after
	}
	if n < 1 {
		return ""
	}
	text, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSuffix(text, []byte("\r")))
}

// bytes renders the document: YAML with two spaces of indentation, JSON with four (state.md 6.4).
func (d *document) bytes() (out []byte, err error) {
	if d.isJSON {
		return formatJSON(d.root()), nil
	}
	if len(d.root().Content) == 0 {
		return commentsOnly(d.node), nil
	}
	if out, err = d.encode(); err != nil {
		return nil, err
	}
	again, err := parseYAML(out)
	if err == nil && sameNode(d.node, again) {
		return out, nil
	}
	// For some texts, such as a block of nothing but empty lines, the encoder chooses a form that the parser reads
	// differently. The quoted form has no such cases.
	quoteTexts(d.node)
	if out, err = d.encode(); err != nil {
		return nil, err
	}
	if again, err = parseYAML(out); err != nil {
		return nil, d.errorAt(0, fmt.Sprintf("the file cannot be written: %v", err), "")
	}
	if !sameNode(d.node, again) {
		return nil, d.errorAt(0, "the file cannot be written without changing its meaning", "simplify it")
	}
	return out, nil
}

func (d *document) encode() (out []byte, err error) {
	defer func() { // the encoder panics on some comments
		if p := recover(); p != nil {
			out, err = nil, d.errorAt(0, fmt.Sprintf("the file cannot be written: %v", p), "")
		}
	}()
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(d.node); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// topValue decodes a setting. A scalar becomes a string, whatever its type in YAML.
func (d *document) topValue(n *yaml.Node) (Value, error) {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode {
		if isNull(n) {
			return "", nil
		}
		return n.Value, nil
	}
	return d.value(n)
}

// value decodes a part of a setting, or a value of the project file, and keeps its types.
func (d *document) value(n *yaml.Node) (Value, error) {
	n = resolve(n)
	switch n.Kind {
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := d.value(c)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		return d.mappingValue(n)
	}
	return d.scalarValue(n)
}

func (d *document) mappingValue(n *yaml.Node) (Value, error) {
	if len(n.Content) == 2 && resolve(n.Content[0]).Value == secureKey {
		if v := resolve(n.Content[1]); v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
			return Secure(v.Value), nil
		}
	}
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolve(n.Content[i])
		if key.ShortTag() == "!!merge" {
			return nil, d.errorAt(key.Line, "merge keys (<<) are not supported", "write the values out")
		}
		v, err := d.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		out[key.Value] = v
	}
	return out, nil
}

func (d *document) scalarValue(n *yaml.Node) (Value, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, d.errorAt(n.Line, fmt.Sprintf("%q is not a boolean", n.Value), "write true or false")
		}
		return b, nil
	case "!!int", "!!float":
		return d.numberValue(n)
	}
	return n.Value, nil
}

func (d *document) numberValue(n *yaml.Node) (Value, error) {
	var i int64
	if n.ShortTag() == "!!int" && n.Decode(&i) == nil {
		return json.Number(strconv.FormatInt(i, 10)), nil
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, d.errorAt(n.Line, fmt.Sprintf("%q is not a number that a configuration can hold", n.Value), "quote it to make it a text")
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, d.errorAt(n.Line, err.Error(), "")
	}
	return json.Number(text), nil
}

// sameNode reports whether two nodes mean the same. Their comments and styles may differ.
func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) || a.Anchor != b.Anchor {
		return false
	}
	if a.Kind == yaml.ScalarNode || a.Kind == yaml.AliasNode {
		return a.Value == b.Value && a.ShortTag() == b.ShortTag()
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// quoteTexts puts the texts of several lines into quotes.
func quoteTexts(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && strings.ContainsAny(n.Value, "\n\r\t") {
		n.Style = n.Style&yaml.TaggedStyle | yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		quoteTexts(c)
	}
}

func commentsOnly(n *yaml.Node) []byte {
	var parts []string
	for _, c := range []string{n.HeadComment, n.Content[0].HeadComment, n.Content[0].FootComment, n.FootComment} {
		if c != "" {
			parts = append(parts, c)
		}
	}
	if len(parts) == 0 {
		return []byte("{}\n")
	}
	return []byte(strings.Join(parts, "\n") + "\n")
}

func invalidUTF8Line(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}
