package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// Resource is a type of resource.
type Resource struct {
	IsComponent bool
	Inputs      map[string]*Property
	Required    []string // names of inputs
	Outputs     map[string]*Property
	Aliases     []string // older tokens
	Deprecation string
}

// Function is a function of a package.
type Function struct {
	Inputs   map[string]*Property
	Required []string
	// Outputs are the properties of the result; nil when they are not described.
	Outputs map[string]*Property
	// IsScalar is true if the result is a single value, which is sent as the only property of an object.
	IsScalar bool
}

// Property is one property of a resource, a function or an object.
type Property struct {
	Type             *Type
	Secret           bool
	ReplaceOnChanges bool
	Const            any // nil, bool, float64 or string
}

// Kind is the kind of a type.
type Kind int

// The kinds of types.
const (
	Any Kind = iota
	Boolean
	Integer
	Number
	String
	Array
	MapOf
	Object
	Enum
	Union
	Asset
)

// Type is the type of a value.
type Type struct {
	Kind       Kind
	Element    *Type // of arrays, maps and enums
	Properties map[string]*Property
	Required   []string
	Values     []any   // of enums
	Members    []*Type // of unions
}

type rawType struct {
	Type                 string
	Ref                  string `json:"$ref"`
	Items                *rawType
	AdditionalProperties *rawType
	OneOf                []rawType
	Enum                 []struct{ Value any }
	Properties           map[string]rawProperty
	Required             []string
}

type rawProperty struct {
	rawType
	Secret           bool
	ReplaceOnChanges bool
	Const            any
}

func (p *Package) decodeResource(token string, text json.RawMessage) *Resource {
	var raw struct {
		IsComponent        bool
		Properties         map[string]rawProperty
		InputProperties    map[string]rawProperty
		RequiredInputs     []string
		Aliases            []struct{ Type string }
		DeprecationMessage string
	}
	if json.Unmarshal(text, &raw) != nil {
		return nil // a malformed type is read as a missing description
	}
	r := &Resource{
		IsComponent: raw.IsComponent && !strings.HasPrefix(token, "pulumi:providers:"),
		Inputs:      p.properties(raw.InputProperties), Outputs: p.properties(raw.Properties),
		Required: raw.RequiredInputs, Deprecation: raw.DeprecationMessage,
	}
	for _, a := range raw.Aliases {
		if a.Type != "" {
			r.Aliases = append(r.Aliases, a.Type)
		}
	}
	return r
}

func (p *Package) decodeFunction(text json.RawMessage) *Function {
	var raw struct {
		Inputs             *rawType
		Outputs            *rawType
		DeprecationMessage string
	}
	if json.Unmarshal(text, &raw) != nil {
		return nil
	}
	f := &Function{Inputs: map[string]*Property{}}
	if raw.Inputs != nil {
		f.Inputs, f.Required = p.properties(raw.Inputs.Properties), raw.Inputs.Required
	}
	if o := raw.Outputs; o != nil && o.Properties != nil {
		f.Outputs = p.properties(o.Properties)
	} else if o != nil {
		t := p.typeOf(*o)
		f.Outputs, f.IsScalar = t.Properties, t.Kind != Object && t.Kind != Any
	}
	return f
}

func (p *Package) properties(raw map[string]rawProperty) map[string]*Property {
	out := make(map[string]*Property, len(raw))
	for name, r := range raw {
		out[name] = &Property{Type: p.typeOf(r.rawType), Secret: r.Secret, ReplaceOnChanges: r.ReplaceOnChanges, Const: r.Const}
	}
	return out
}

func (p *Package) decodeNamed(t *Type, text json.RawMessage) {
	var raw rawType
	if json.Unmarshal(text, &raw) != nil {
		return
	}
	if len(raw.Enum) > 0 {
		t.Kind, t.Element = Enum, p.typeOf(rawType{Type: raw.Type})
		for _, v := range raw.Enum {
			t.Values = append(t.Values, v.Value)
		}
		return
	}
	t.Kind, t.Required = Object, raw.Required
	t.Properties = p.properties(raw.Properties)
}

func (p *Package) typeOf(r rawType) *Type {
	switch {
	case r.Ref != "":
		return p.reference(r)
	case len(r.OneOf) > 0:
		t := &Type{Kind: Union}
		for _, m := range r.OneOf {
			t.Members = append(t.Members, p.typeOf(m))
		}
		return t
	}
	switch r.Type {
	case "boolean":
		return &Type{Kind: Boolean}
	case "integer":
		return &Type{Kind: Integer}
	case "number":
		return &Type{Kind: Number}
	case "string":
		return &Type{Kind: String}
	case "array":
		t := &Type{Kind: Array, Element: &Type{}}
		if r.Items != nil {
			t.Element = p.typeOf(*r.Items)
		}
		return t
	case "object":
		t := &Type{Kind: MapOf, Element: &Type{Kind: String}}
		if r.AdditionalProperties != nil {
			t.Element = p.typeOf(*r.AdditionalProperties)
		}
		return t
	}
	return &Type{}
}

// reference resolves "#/types/<token>" and the types common to all packages. Types of other packages are read as any type.
func (p *Package) reference(r rawType) *Type {
	file, path, _ := strings.Cut(r.Ref, "#")
	if file == "pulumi.json" && slices.Contains([]string{"/Asset", "/Archive"}, path) {
		return &Type{Kind: Asset}
	}
	if token, isType := strings.CutPrefix(path, "/types/"); file == "" && isType {
		if t := p.named(token); t != nil {
			return t
		}
	}
	if r.Type != "" && r.Type != "object" {
		r.Ref = ""
		return p.typeOf(r)
	}
	return &Type{}
}

// SecretOutputs returns the names of the outputs that are secret, sorted.
func (r *Resource) SecretOutputs() []string {
	var out []string
	for name, p := range r.Outputs {
		if p.Secret {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// ReplacePaths returns the outputs whose change requires a replacement, as paths, sorted.
func (r *Resource) ReplacePaths() []string {
	var out []string
	replacePaths("", r.Outputs, leading(r.Outputs), map[*Type]bool{}, &out)
	slices.Sort(out)
	return out
}

func replacePaths(prefix string, properties map[string]*Property, leads map[*Type]bool, above map[*Type]bool, out *[]string) {
	for name, p := range properties {
		path := prefix + name
		if p.ReplaceOnChanges {
			*out = append(*out, path)
			continue
		}
		t, suffix := p.Type.innermost()
		if t.Kind == Object && leads[t] && !above[t] {
			above[t] = true
			replacePaths(path+suffix+".", t.Properties, leads, above, out)
			delete(above, t)
		}
	}
}

// leading returns the object types among properties, at any depth, that contain a property whose change requires a replacement. Types may
// share others and contain themselves, so that there can be many more paths than types.
func leading(properties map[string]*Property) map[*Type]bool {
	usedBy := map[*Type][]*Type{} // with an entry for every reached type
	var found []*Type
	var reach func(by *Type, properties map[string]*Property)
	reach = func(by *Type, properties map[string]*Property) {
		for _, p := range properties {
			if p.ReplaceOnChanges && by != nil {
				found = append(found, by)
			}
			t, _ := p.Type.innermost()
			if t.Kind != Object {
				continue
			}
			_, seen := usedBy[t]
			usedBy[t] = append(usedBy[t], by)
			if !seen {
				reach(t, t.Properties)
			}
		}
	}
	reach(nil, properties)
	leads := map[*Type]bool{}
	for len(found) > 0 {
		t := found[len(found)-1]
		found = found[:len(found)-1]
		if t != nil && !leads[t] {
			leads[t] = true
			found = append(found, usedBy[t]...)
		}
	}
	return leads
}

// innermost returns the type of the elements of arrays and maps, and the path to them.
func (t *Type) innermost() (inner *Type, path string) {
	for ; t.Kind == Array || t.Kind == MapOf; t = t.Element { // only objects contain themselves
		if t.Kind == Array {
			path += "[*]"
		} else {
			path += ".*"
		}
	}
	return t, path
}
