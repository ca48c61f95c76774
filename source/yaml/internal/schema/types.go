package schema

import (
	"slices"
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
