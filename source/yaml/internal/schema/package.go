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

// IsDescribed reports whether the package lists its members.
func (p *Package) IsDescribed() bool { return p.described }

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
