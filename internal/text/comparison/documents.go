package comparison

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/property"
)

// Limits on texts that are parsed as documents.
const (
	// MaxDocument is the maximal size of a document in bytes.
	MaxDocument = 64 << 10
	// MaxNesting is the maximal depth of objects and arrays in a document.
	MaxNesting = 50
)

// Document is the document in a text.
type Document struct {
	Format string // "JSON" or "YAML"
	Value  property.Value
}

// errNoDocument is returned for a text that must not be compared by value: it is not a document, or contains something that a value cannot
// express, so that two different texts might seem equal.
var errNoDocument = errors.New("not a document")

// DocumentIn parses a text that holds a JSON or YAML object or array.
func DocumentIn(text string) (Document, bool) {
	if len(text) < 2 || len(text) > MaxDocument {
		return Document{}, false
	}
	d, err := Document{Format: "JSON"}, errNoDocument
	if start := strings.TrimLeft(text, " \t\r\n"); start != "" && (start[0] == '{' || start[0] == '[') {
		d.Value, err = readJSON(text)
	}
	if err != nil && strings.Contains(text, "\n") {
		d.Format = "YAML"
		d.Value, err = readYAML(text)
	}
	return d, err == nil && IsCollection(d.Value)
}

func readJSON(text string) (property.Value, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := jsonItem(d, 0)
	if err != nil {
		return property.Null, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return property.Null, errNoDocument
	}
	return v, nil
}

// jsonItem reads one value. It refuses duplicate names, of which a decoder would silently use the last.
func jsonItem(d *json.Decoder, depth int) (property.Value, error) {
	token, err := d.Token()
	if err != nil {
		return property.Null, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == MaxNesting {
			return property.Null, errNoDocument
		}
		if token == '[' {
			return jsonArray(d, depth+1)
		}
		return jsonObject(d, depth+1)
	case json.Number:
		return exactNumber(token.String())
	case string:
		return jsonText(token)
	case bool:
		return property.Bool(token), nil
	}
	return property.Null, nil
}

// jsonText refuses a text that the decoder may have changed because it was not valid Unicode.
func jsonText(s string) (property.Value, error) {
	if strings.ContainsRune(s, utf8.RuneError) {
		return property.Null, errNoDocument
	}
	return property.String(s), nil
}

func jsonArray(d *json.Decoder, depth int) (property.Value, error) {
	var items []property.Value
	for d.More() {
		item, err := jsonItem(d, depth)
		if err != nil {
			return property.Null, err
		}
		items = append(items, item)
	}
	_, err := d.Token()
	return property.ArrayOf(items...), err
}

func jsonObject(d *json.Decoder, depth int) (property.Value, error) {
	fields := map[string]property.Value{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return property.Null, err
		}
		key, _ := name.(string)
		if _, twice := fields[key]; twice || strings.ContainsRune(key, utf8.RuneError) {
			return property.Null, errNoDocument
		}
		if fields[key], err = jsonItem(d, depth); err != nil {
			return property.Null, err
		}
	}
	_, err := d.Token()
	return property.Of(property.NewMap(fields)), err
}

// exactDigits is the number of decimal digits that a float64 always preserves.
const exactDigits = 15

// exactNumber returns the number of a literal. It refuses one whose digits a float64 would not preserve.
func exactNumber(literal string) (property.Value, error) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return property.Null, errNoDocument
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
	digits := strings.Trim(strings.NewReplacer("-", "", "+", "", ".", "").Replace(mantissa), "0")
	if len(digits) > exactDigits || f == 0 && digits != "" {
		return property.Null, errNoDocument
	}
	return property.Number(f), nil
}

// readYAML parses a text of one or more YAML documents. It refuses anchors, aliases and application-specific tags, whose meaning is lost in the
// values.
func readYAML(text string) (property.Value, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	var all []property.Value
	for {
		var node yaml.Node
		if err := d.Decode(&node); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return property.Null, err
		}
		v, err := yamlItem(&node, 0)
		if err != nil {
			return property.Null, err
		}
		all = append(all, v)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return property.ArrayOf(all...), nil
}

func yamlItem(n *yaml.Node, depth int) (property.Value, error) {
	switch {
	case depth > MaxNesting || n.Anchor != "" || n.Kind == yaml.AliasNode || n.Tag != "" && !strings.HasPrefix(n.Tag, "!!"):
		return property.Null, errNoDocument
	case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
		return yamlItem(n.Content[0], depth+1)
	case n.Kind == yaml.SequenceNode && n.Tag == "!!seq":
		items := make([]property.Value, len(n.Content))
		for i, c := range n.Content {
			item, err := yamlItem(c, depth+1)
			if err != nil {
				return property.Null, err
			}
			items[i] = item
		}
		return property.ArrayOf(items...), nil
	case n.Kind == yaml.MappingNode && n.Tag == "!!map":
		return yamlObject(n, depth+1)
	case n.Kind == yaml.ScalarNode:
		return yamlScalar(n)
	}
	return property.Null, errNoDocument
}

func yamlObject(n *yaml.Node, depth int) (property.Value, error) {
	fields := map[string]property.Value{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, twice := fields[key.Value]; twice || key.Kind != yaml.ScalarNode || key.Tag != "!!str" || key.Anchor != "" {
			return property.Null, errNoDocument
		}
		v, err := yamlItem(n.Content[i+1], depth)
		if err != nil {
			return property.Null, err
		}
		fields[key.Value] = v
	}
	return property.Of(property.NewMap(fields)), nil
}

func yamlScalar(n *yaml.Node) (property.Value, error) {
	switch n.Tag {
	case "!!str":
		return property.String(n.Value), nil
	case "!!null":
		return property.Null, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return property.Bool(b), err
	case "!!int", "!!float":
		if v, err := exactNumber(n.Value); err == nil && !math.IsNaN(v.AsNumber()) && !math.IsInf(v.AsNumber(), 0) && !isOctal(n.Value) {
			return v, nil
		}
	}
	return property.Null, errNoDocument // dates, for example, and numbers in other bases
}

// isOctal reports whether parsers of YAML disagree on the value of a number: 010 is 8 to many.
func isOctal(literal string) bool {
	digits := strings.TrimLeft(literal, "+-")
	return len(digits) > 1 && digits[0] == '0' && digits[1] != '.'
}

// IsCollection reports whether a value is a nonempty object or array.
func IsCollection(v property.Value) bool {
	return v.IsMap() && v.AsMap().Len() > 0 || v.IsArray() && v.AsArray().Len() > 0
}
