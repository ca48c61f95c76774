package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Package is the schema of one package. Its methods are safe for many goroutines.
type Package struct {
	Name, Version string

	described bool // it lists resources or functions
	provider  json.RawMessage
	resources table
	functions table
	types     map[string]json.RawMessage

	olderNames func() map[string]string // full token by older, lower-case token

	mu         sync.Mutex // guards the fields below, which are filled on demand
	decoded    map[string]*Resource
	decodedFns map[string]*Function
	objects    map[string]*Type
}

// table finds members by their token, ignoring case.
type table struct {
	exact  map[string]json.RawMessage
	folded map[string]string
}

func newTable(m map[string]json.RawMessage) table {
	t := table{exact: m, folded: make(map[string]string, len(m))}
	for token := range m {
		t.folded[strings.ToLower(token)] = token
	}
	return t
}

func (t table) find(token string) (string, bool) {
	if _, ok := t.exact[token]; ok {
		return token, true
	}
	found, ok := t.folded[strings.ToLower(token)]
	return found, ok
}

// Unknown returns the schema of a package without a description.
func Unknown(name string) *Package {
	return &Package{
		Name: name, decoded: map[string]*Resource{}, decodedFns: map[string]*Function{}, objects: map[string]*Type{},
	}
}

// Parse reads a provider's answer to GetSchema. Members are decoded on demand, because some schemas are very large.
func Parse(name, text string) (*Package, error) {
	p := Unknown(name)
	if strings.TrimSpace(text) == "" {
		return p, nil
	}
	var raw struct {
		Name, Version               string
		Provider                    json.RawMessage
		Resources, Functions, Types map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("read the schema of the package %s: %w", name, err)
	}
	p.Version, p.provider, p.types = raw.Version, raw.Provider, raw.Types
	p.resources, p.functions = newTable(raw.Resources), newTable(raw.Functions)
	p.described = raw.Resources != nil || raw.Functions != nil
	p.olderNames = sync.OnceValue(p.readOlderNames)
	return p, nil
}

// ResolveResource returns the full token of a type that a program may have shortened. ok is false if the package has no such type.
func (p *Package) ResolveResource(token string) (full string, ok bool) {
	if strings.HasPrefix(token, "pulumi:providers:") {
		return token, true
	}
	if full, ok := p.resolve(token, p.resources); ok || !p.described {
		return full, ok
	}
	full, ok = p.olderNames()[strings.ToLower(token)]
	return full, ok
}

// readOlderNames returns the types that had other tokens. It has to decode all types, so it is called only for an otherwise unknown token.
func (p *Package) readOlderNames() map[string]string {
	older := map[string]string{}
	for _, token := range slices.Sorted(maps.Keys(p.resources.exact)) {
		var raw struct{ Aliases []struct{ Type string } }
		if json.Unmarshal(p.resources.exact[token], &raw) != nil {
			continue
		}
		for _, a := range raw.Aliases {
			if name := strings.ToLower(a.Type); name != "" && older[name] == "" {
				older[name] = token
			}
		}
	}
	return older
}

// ResolveFunction returns the full token of a function that a program may have shortened.
func (p *Package) ResolveFunction(token string) (full string, ok bool) {
	return p.resolve(token, p.functions)
}

// resolve tries the possible forms of a token: itself, pkg:Type for pkg:index:Type, and pkg:mod:Type for pkg:mod/type:Type.
func (p *Package) resolve(token string, t table) (string, bool) {
	parts := strings.Split(token, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return "", false
	}
	if full, ok := t.find(token); ok {
		return full, true
	}
	if len(parts) == 2 {
		parts = []string{parts[0], "index", parts[1]}
		if full, ok := t.find(strings.Join(parts, ":")); ok {
			return full, true
		}
	}
	if full, ok := t.find(parts[0] + ":" + parts[1] + "/" + parts[2] + ":" + parts[2]); ok {
		return full, true
	}
	if !p.described {
		return strings.Join(parts, ":"), true
	}
	return "", false
}

// ResourceTokens returns the types of the package, for suggestions.
func (p *Package) ResourceTokens() []string { return tokens(p.resources) }

// FunctionTokens returns the functions of the package, for suggestions.
func (p *Package) FunctionTokens() []string { return tokens(p.functions) }

// tokens lists the members, in the short form that programs may write.
func tokens(t table) []string {
	var out []string
	for token := range t.exact {
		parts := strings.Split(token, ":")
		if len(parts) == 3 {
			module, last, twice := strings.Cut(parts[1], "/")
			switch short := !twice || strings.EqualFold(last, parts[2]); {
			case short && module == "index":
				token = parts[0] + ":" + parts[2]
			case short:
				token = parts[0] + ":" + module + ":" + parts[2]
			}
		}
		out = append(out, token)
	}
	slices.Sort(out)
	return out
}

// Resource returns a type by its full token, nil when the package does not describe it.
func (p *Package) Resource(token string) *Resource {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.decoded[token]; ok {
		return known
	}
	text, ok := p.resources.exact[token]
	if strings.HasPrefix(token, "pulumi:providers:") {
		text, ok = p.provider, len(p.provider) > 0
	}
	if !ok {
		return nil
	}
	r := p.decodeResource(token, text)
	p.decoded[token] = r
	return r
}

// Function returns a function by its full token, nil when the package does not describe it.
func (p *Package) Function(token string) *Function {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.decodedFns[token]; ok {
		return known
	}
	text, ok := p.functions.exact[token]
	if !ok {
		return nil
	}
	f := p.decodeFunction(text)
	p.decodedFns[token] = f
	return f
}

func (p *Package) named(token string) *Type {
	if decoded, err := url.PathUnescape(token); err == nil {
		token = decoded
	}
	if known, ok := p.objects[token]; ok {
		return known
	}
	text, ok := p.types[token]
	if !ok {
		return nil
	}
	t := &Type{}
	p.objects[token] = t // before the properties: types may contain themselves
	p.decodeNamed(t, text)
	return t
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
