package jsonschema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// draft7 is the schema of schemas.
//
//go:embed draft7.json
var draft7 []byte

const draft7URI = "http://json-schema.org/draft-07/schema"

// A Schema is a document with a schema, which is as [encoding/json] decodes it into an any. It is not safe for concurrent use.
type Schema struct {
	root     node
	own      map[uintptr]*resource // by the address of an object with $id
	named    map[string]node       // by absolute URI
	patterns map[string]*regexp.Regexp
}

// resource is a schema that others find by its URI, and that the references below it are relative to.
type resource struct {
	schema any
	uri    *url.URL
}

// node is a schema in the resource that it belongs to.
type node struct {
	schema any // a bool or an object; anything else allows everything
	in     *resource
}

// New checks a document by the schema of schemas, and that each reference leads to a schema. It returns what is wrong with it, ordered; the Schema is
// nil then.
func New(document any) (*Schema, []string) {
	var meta any
	if err := json.Unmarshal(draft7, &meta); err != nil {
		return nil, []string{err.Error()}
	}
	s, language := open(document, ""), open(meta, draft7URI)
	if faults := language.Faults(document); len(faults) > 0 {
		return nil, faults
	}
	maps.Copy(s.named, language.named)
	maps.Copy(s.own, language.own)
	var faults []string
	seen := map[uintptr]bool{}
	var follow func(node, map[string]any) bool
	follow = func(n node, object map[string]any) bool {
		if seen[address(object)] {
			return false
		}
		seen[address(object)] = true
		ref, ok := object["$ref"].(string)
		if !ok {
			return true
		}
		target, err := s.resolve(n.in, ref)
		if err != nil {
			faults = append(faults, err.Error())
			return false
		}
		if object, isObject := target.schema.(map[string]any); !isObject || !seen[address(object)] {
			for _, fault := range language.Faults(target.schema) { // it may be where no schema is expected
				faults = append(faults, fmt.Sprintf("%s: %s", ref, fault))
			}
		}
		if len(faults) == 0 {
			s.visit(target, follow)
		}
		return false
	}
	s.visit(s.root, follow)
	if len(faults) > 0 {
		return nil, ordered(faults)
	}
	return s, nil
}

// Faults returns what is wrong with a value, which is as [encoding/json] decodes it into an any: "<property>.<index>: <fault>", ordered.
func (s *Schema) Faults(value any) []string {
	return ordered(check(s, s.root, value, location{}, nil))
}

func ordered(faults []string) []string {
	slices.Sort(faults)
	return slices.Compact(faults)
}

func open(document any, uri string) *Schema {
	base, _ := url.Parse(uri) // both are valid
	s := &Schema{
		root: node{document, &resource{document, base}}, own: map[uintptr]*resource{}, named: map[string]node{}, patterns: map[string]*regexp.Regexp{},
	}
	s.named[uri] = s.root
	s.visit(s.root, func(n node, object map[string]any) bool {
		if _, isReference := object["$ref"]; isReference { // other keywords beside it mean nothing
			return true
		}
		id, err := url.Parse(text(object, "$id"))
		if err != nil || *id == (url.URL{}) {
			return true
		}
		absolute := n.in.uri.ResolveReference(id)
		if id.Fragment != "" && strings.HasPrefix(text(object, "$id"), "#") {
			s.named[absolute.String()] = n
			return true
		}
		absolute.Fragment = ""
		own := &resource{object, absolute}
		s.own[address(object)], s.named[absolute.String()] = own, node{object, own}
		return true
	})
	return s
}

// visit calls f for each object that is a schema below n, n included. It does not go below one for which f returns false. f may make a schema a resource.
func (s *Schema) visit(n node, f func(node, map[string]any) bool) {
	object, ok := n.schema.(map[string]any)
	if !ok || !f(s.enter(n), object) {
		return
	}
	n = s.enter(n)
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		switch value := object[keyword].(type) {
		case []any:
			if slices.Contains([]string{"allOf", "anyOf", "oneOf", "items"}, keyword) {
				for _, below := range value {
					s.visit(node{below, n.in}, f)
				}
			}
		case map[string]any:
			switch keyword {
			case "properties", "patternProperties", "definitions", "dependencies":
				for _, name := range slices.Sorted(maps.Keys(value)) {
					s.visit(node{value[name], n.in}, f)
				}
			case "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then":
				s.visit(node{value, n.in}, f)
			}
		}
	}
}

// enter returns n in its own resource, if it is one.
func (s *Schema) enter(n node) node {
	if object, ok := n.schema.(map[string]any); ok {
		if own := s.own[address(object)]; own != nil {
			n.in = own
		}
	}
	return n
}

// resolve finds the schema that a reference leads to.
func (s *Schema) resolve(in *resource, ref string) (node, error) {
	uri, err := url.Parse(ref)
	if err != nil {
		return node{}, fmt.Errorf("the reference %s: %w", quote(ref), err)
	}
	absolute := in.uri.ResolveReference(uri)
	if n, ok := s.named[absolute.String()]; ok {
		return n, nil
	}
	fragment := absolute.Fragment
	absolute.Fragment, absolute.RawFragment = "", ""
	n, ok := s.named[absolute.String()]
	if absolute.String() == in.uri.String() {
		n, ok = node{in.schema, in}, true
	}
	if !ok {
		return node{}, fmt.Errorf("it refers to %s, and may refer to nothing outside of itself", absolute)
	}
	nothing := fmt.Errorf("the reference %s leads to nothing", quote(ref))
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		return node{}, nothing
	}
	for _, token := range strings.Split(fragment, "/")[1:] {
		n = s.enter(n)
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch at := n.schema.(type) {
		case map[string]any:
			below, ok := at[token]
			if !ok {
				return node{}, nothing
			}
			n.schema = below
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return node{}, nothing
			}
			n.schema = at[i]
		default:
			return node{}, nothing
		}
	}
	return n, nil
}

// pattern returns a regular expression, or nil if the text is none; then New has said so.
func (s *Schema) pattern(text string) *regexp.Regexp {
	if known, ok := s.patterns[text]; ok {
		return known
	}
	compiled, _ := regexp.Compile(text)
	s.patterns[text] = compiled
	return compiled
}

func address(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

// text returns the text of a keyword, or "".
func text(object map[string]any, keyword string) string {
	value, _ := object[keyword].(string)
	return value
}
