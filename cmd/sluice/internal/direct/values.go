package direct

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/property"
)

// ParseValues reads the properties in a document in YAML or JSON. It understands fn::secret and the functions for assets and archives; other
// expressions are errors. from is the origin of the text, for errors. An empty document has no properties.
func ParseValues(from string, text []byte) (property.Map, error) {
	v, err := parse(text)
	switch {
	case err != nil:
		return property.Map{}, fmt.Errorf("%s: %w", from, err)
	case v.IsNull():
		return property.Map{}, nil
	case !v.IsMap():
		return property.Map{}, fmt.Errorf("%s must have names of properties with their values, as in `length: 3`", from)
	}
	return v.AsMap(), nil
}

// parse reads one value in YAML.
func parse(text []byte) (property.Value, error) {
	var node yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&node); {
	case errors.Is(err, io.EOF):
		return property.Null, nil
	case err != nil:
		return property.Null, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return property.Null, errors.New("there is more than one document")
	}
	keepTexts(&node)
	var plain any
	if err := node.Decode(&plain); err != nil { // it bounds what aliases expand to
		return property.Null, err
	}
	return evaluate(plain)
}

// keepTexts makes texts of what YAML takes for points in time. Aliases lead to nodes that are visited anyway.
func keepTexts(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		keepTexts(c)
	}
}

// evaluate converts a decoded value.
func evaluate(v any) (property.Value, error) {
	switch v := v.(type) {
	case string:
		return literal(v)
	case []any:
		list := make([]property.Value, len(v))
		for i, e := range v {
			var err error
			if list[i], err = evaluate(e); err != nil {
				return property.Null, err
			}
		}
		return property.ArrayOf(list...), nil
	case map[string]any:
		for name, argument := range v {
			if f := functionIn(name); f != "" {
				if len(v) > 1 {
					return property.Null, fmt.Errorf("%s must be the only key of its object", name)
				}
				return call(f, argument)
			}
		}
		out := make(map[string]property.Value, len(v))
		for name, e := range v {
			var err error
			if out[name], err = evaluate(e); err != nil {
				return property.Null, err
			}
		}
		return property.Of(property.NewMap(out)), nil
	case map[any]any:
		for key := range v {
			if _, is := key.(string); !is {
				return property.Null, fmt.Errorf("the key %v is no text; put it in quotes", key)
			}
		}
	}
	return property.FromGo(v)
}

// functionIn returns the function that a key calls, without its prefix; "" if it calls none.
func functionIn(key string) string {
	if f, is := strings.CutPrefix(strings.ToLower(key[:min(4, len(key))])+key[min(4, len(key)):], "fn::"); is {
		return f
	}
	return ""
}

// literal returns a text, in which "$${" stands for "${".
func literal(text string) (property.Value, error) {
	for rest := text; ; {
		at := strings.Index(rest, "${")
		if at < 0 {
			break
		}
		if at == 0 || rest[at-1] != '$' {
			name, _, _ := strings.Cut(rest[at:], "}")
			return property.Null, fmt.Errorf("%q refers to something outside of the file, which `do` does not know; write $${ for the characters ${", name+"}")
		}
		rest = rest[at+2:]
	}
	return property.String(strings.ReplaceAll(text, "$${", "${")), nil
}

// call evaluates a function.
func call(name string, argument any) (property.Value, error) {
	v, err := evaluate(argument)
	if err != nil {
		return property.Null, err
	}
	text := func(f func(string) property.Value) (property.Value, error) {
		if !v.IsString() {
			return property.Null, fmt.Errorf("fn::%s needs a text", name)
		}
		return f(v.AsString()), nil
	}
	switch strings.ToLower(name) {
	case "secret":
		return property.MakeSecret(v), nil
	case "stringasset":
		return text(property.TextAsset)
	case "fileasset":
		return text(property.PathAsset)
	case "remoteasset":
		return text(property.URIAsset)
	case "filearchive":
		return text(property.PathArchive)
	case "remotearchive":
		return text(property.URIArchive)
	case "assetarchive":
		if !v.IsMap() {
			return property.Null, errors.New("fn::assetArchive needs names with assets and archives")
		}
		for member, content := range v.AsMap().All() {
			if !content.IsAsset() && !content.IsArchive() {
				return property.Null, fmt.Errorf("the member %q of fn::assetArchive is neither an asset nor an archive", member)
			}
		}
		return property.MemberArchive(v.AsMap()), nil
	}
	return property.Null, fmt.Errorf("`do` does not evaluate fn::%s; it has fn::secret and the functions for assets and archives", name)
}
