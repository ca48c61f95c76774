package direct

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Schema is the part of a package's schema that operations need.
type Schema struct {
	Name        string
	Description string
	Resources   map[string]*Resource
	Functions   map[string]*Function
	Provider    Resource
	Types       map[string]*objectType
}

// Resource is a type of resources.
type Resource struct {
	Token           string `json:"-"`
	Description     string
	IsComponent     bool
	InputProperties map[string]*Property
	RequiredInputs  []string
	Properties      map[string]*Property
	ListInputs      *objectType
}

// URN returns the URN that the provider gets for objects of a type.
func (r *Resource) URN() urn.URN {
	_, name := split(r.Token)
	return urn.New(stackName, projectName, "", urn.Type(r.Token), name)
}

// Inputs are the inputs of a resource.
func (r *Resource) Inputs() Inputs { return Inputs{r.InputProperties, r.RequiredInputs} }

// Queries returns the inputs of a list of such resources, and reports whether they can be listed.
func (r *Resource) Queries() (Inputs, bool) {
	if r.ListInputs == nil {
		return Inputs{}, false
	}
	return Inputs{r.ListInputs.Properties, r.ListInputs.Required}, true
}

// Function is a function of a provider.
type Function struct {
	Token       string `json:"-"`
	Description string
	Arguments   *objectType `json:"inputs"`
	// Outputs is an object, or the type of the one value that the function returns.
	Outputs *Property
	// ReturnType is what older schemas have in place of such a type.
	ReturnType *Property
}

// Inputs are the inputs of the function.
func (f *Function) Inputs() Inputs {
	if f.Arguments == nil {
		return Inputs{}
	}
	return Inputs{f.Arguments.Properties, f.Arguments.Required}
}

// isMethod reports whether the function belongs to a resource, which it gets as an argument.
func (f *Function) isMethod() bool {
	_, has := f.Inputs().Properties["__self__"]
	return has
}

// result is the type of what the function returns; nil if the schema has none.
func (f *Function) result() *Property {
	if f.Outputs != nil {
		return f.Outputs
	}
	return f.ReturnType
}

// objectType is the type of an object, or an enumeration.
type objectType struct {
	Type       string
	Properties map[string]*Property
	Required   []string
	Enum       []json.RawMessage
}

// Inputs are properties that a user gives.
type Inputs struct {
	Properties map[string]*Property
	Required   []string
}

// Names returns the names of the properties in order.
func (i Inputs) Names() []string { return slices.Sorted(maps.Keys(i.Properties)) }

// Check returns an error that lists what is not there and, unless partial is set, what is missing.
func (i Inputs) Check(m property.Map, partial bool) error {
	var faults []string
	for _, name := range m.Names() {
		if i.Properties[name] != nil {
			continue
		}
		fault := fmt.Sprintf("there is no input %q", name)
		if near := similar.Name(name, i.Names()); near != "" {
			fault += fmt.Sprintf("; did you mean %q?", near)
		}
		faults = append(faults, fault)
	}
	for _, name := range slices.Sorted(slices.Values(i.Required)) {
		p := i.Properties[name]
		if _, given := m.Get(name); !given && !partial && p != nil && p.Default == nil && p.DefaultInfo == nil {
			faults = append(faults, fmt.Sprintf("the input %q is missing: give --%s, or write it in the file of --input-file", name, p.flag(name)))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return exit.Usagef("%s", strings.Join(faults, "\n"))
}

// Member is what a token names: one of the fields is set.
type Member struct {
	Resource *Resource
	Function *Function
	Module   []string // the tokens in a module, or in the package
}

// ReadSchema reads a schema.
func ReadSchema(text []byte) (*Schema, error) {
	s := &Schema{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("the schema of the package cannot be read: %w", err)
	}
	for token, r := range s.Resources {
		if r == nil {
			return nil, fmt.Errorf("the schema of the package cannot be read: the resource %s is null", token)
		}
		r.Token = token
	}
	for token, f := range s.Functions {
		if f == nil {
			return nil, fmt.Errorf("the schema of the package cannot be read: the function %s is null", token)
		}
		f.Token = token
	}
	return s, nil
}

// Find returns what the user's text names: a resource or a function by its token, in which the module "index" and the part of a module after "/"
// may be left out, or a module, or the package itself.
func (s *Schema) Find(text string) (Member, error) {
	_, rest, isToken := strings.Cut(text, ":")
	if !isToken {
		return Member{Module: s.tokens("")}, nil
	}
	if r, f := s.Resources[text], s.Functions[text]; r != nil || f != nil {
		return s.member(text)
	}
	var fit []string
	for _, token := range s.tokens("") {
		if isCalled(token, rest) {
			fit = append(fit, token)
		}
	}
	switch {
	case len(fit) == 1:
		return s.member(fit[0])
	case len(fit) > 1:
		return Member{}, exit.Usagef("%s names several; write the one that you mean:\n    %s", text, strings.Join(fit, "\n    "))
	}
	if in := s.tokens(rest); len(in) > 0 {
		return Member{Module: in}, nil
	}
	return Member{}, s.unknown(text)
}

func (s *Schema) member(token string) (Member, error) {
	if r := s.Resources[token]; r != nil {
		if r.IsComponent {
			return Member{}, exit.Usagef("%s is a component: it registers resources with an engine, so only a program can declare it", token)
		}
		return Member{Resource: r}, nil
	}
	return Member{Function: s.Functions[token]}, nil
}

// tokens returns the tokens of a module in order, all of them for "". Methods of resources are left out.
func (s *Schema) tokens(module string) []string {
	var list []string
	add := func(token string) {
		own, _ := split(token)
		if module == "" || own == module || strings.HasPrefix(own, module+"/") {
			list = append(list, token)
		}
	}
	for token := range s.Resources {
		add(token)
	}
	for token, f := range s.Functions {
		if !f.isMethod() && s.Resources[token] == nil {
			add(token)
		}
	}
	slices.Sort(list)
	return list
}

// unknown returns the error for a text that names nothing.
func (s *Schema) unknown(text string) error {
	var short []string
	for _, token := range s.tokens("") {
		short = append(short, Short(token))
	}
	meant := ""
	if near := similar.Name(text, short); near != "" {
		meant = fmt.Sprintf("; did you mean %s?", near)
	}
	return exit.Usagef("the package %q has no resource, function or module %q%s\n`sluice do %s` lists what it has", s.Name, text, meant, s.Name)
}

// split returns the module and the name in a token.
func split(token string) (module, name string) {
	parts := strings.SplitN(token, ":", 3)
	if len(parts) < 3 {
		return "", token
	}
	return parts[1], parts[2]
}

// isCalled reports whether the user's text, without its package, names a token.
func isCalled(token, text string) bool {
	module, name := split(token)
	short := module
	if before, last, found := cutLast(module); found && strings.EqualFold(last, name) {
		short = before
	}
	return text == short+":"+name || text == module+":"+name || text == name && (short == "index" || short == "")
}

func cutLast(module string) (before, last string, found bool) {
	at := strings.LastIndex(module, "/")
	if at < 0 {
		return module, "", false
	}
	return module[:at], module[at+1:], true
}

// Short returns the shortest form of a token that usually names it.
func Short(token string) string {
	pkg, _, _ := strings.Cut(token, ":")
	module, name := split(token)
	if before, last, found := cutLast(module); found && strings.EqualFold(last, name) {
		module = before
	}
	if module == "index" || module == "" {
		return pkg + ":" + name
	}
	return pkg + ":" + module + ":" + name
}

// Outputs returns the declared ones of outputs, with those that the schema calls secret marked.
func (s *Schema) Outputs(r *Resource, outputs property.Map) property.Map {
	out := map[string]property.Value{}
	for name, v := range outputs.All() {
		if p := r.Properties[name]; p != nil {
			out[name] = s.mark(v, p)
		}
	}
	return property.NewMap(out)
}

// Mark returns m with the values marked that the schema calls secret. Values of properties that it does not have stay as they are.
func (s *Schema) Mark(m property.Map, properties map[string]*Property) property.Map {
	out := m.Mutable()
	for name, v := range out {
		if p := properties[name]; p != nil {
			out[name] = s.mark(v, p)
		}
	}
	return property.NewMap(out)
}

// Result returns what a function has returned: an object, or the one value that its schema declares.
func (s *Schema) Result(f *Function, answer property.Map) property.Value {
	is := f.result()
	if is == nil {
		return property.Of(answer)
	}
	object := s.resolve(is)
	if object == nil {
		if answer.Len() == 1 {
			for _, v := range answer.All() {
				return s.mark(v, is)
			}
		}
		return property.Of(answer)
	}
	out := map[string]property.Value{}
	for name, v := range answer.All() {
		if p := object.Properties[name]; p != nil {
			out[name] = s.mark(v, p)
		}
	}
	return property.Of(property.NewMap(out))
}

// resolve returns the object that a property is, nil if it is no object with declared properties.
func (s *Schema) resolve(p *Property) *objectType {
	if p.Properties != nil {
		return &objectType{Type: "object", Properties: p.Properties}
	}
	if t := s.named(p); t != nil && t.Properties != nil {
		return t
	}
	return nil
}

// named returns the type of this package that a property refers to, nil if there is none.
func (s *Schema) named(p *Property) *objectType {
	_, name, found := strings.Cut(p.Ref, "#/types/")
	if !found || !strings.HasPrefix(p.Ref, "#") {
		return nil
	}
	return s.Types[strings.ReplaceAll(name, "%2F", "/")]
}

// mark marks what the schema calls secret in a value, at any depth.
func (s *Schema) mark(v property.Value, p *Property) property.Value {
	inner, secret := v.Unwrap()
	switch {
	case p.Secret || secret:
		return property.MakeSecret(v)
	case inner.IsMap():
		if object := s.resolve(p); object != nil {
			return property.Of(s.Mark(inner.AsMap(), object.Properties))
		}
		if each := p.AdditionalProperties; each != nil {
			out := inner.AsMap().Mutable()
			for name, e := range out {
				out[name] = s.mark(e, each)
			}
			return property.Of(property.NewMap(out))
		}
	case inner.IsArray() && p.Items != nil:
		list := make([]property.Value, inner.AsArray().Len())
		for i, e := range inner.AsArray().All() {
			list[i] = s.mark(e, p.Items)
		}
		return property.ArrayOf(list...)
	}
	for i := range p.OneOf {
		v = s.mark(v, &p.OneOf[i])
	}
	return v
}

// kindOf returns what a flag makes of the text of a property: enumerations are texts or numbers.
func (s *Schema) kindOf(p *Property) kind {
	t := p.Type
	if named := s.named(p); named != nil && named.Enum != nil {
		t = named.Type
	}
	switch k := kind(t); {
	case p.Ref != "" && t == p.Type:
		return isOther
	case k == isText, k == isBool, k == isWhole, k == isNumber:
		return k
	}
	return isOther
}

// typeText describes the type of a property.
func (s *Schema) typeText(p *Property) string {
	switch {
	case s.kindOf(p) != isOther:
		return string(s.kindOf(p))
	case len(p.OneOf) > 0:
		list := make([]string, len(p.OneOf))
		for i := range p.OneOf {
			list[i] = s.typeText(&p.OneOf[i])
		}
		return strings.Join(list, " or ")
	case p.Items != nil:
		return "list of " + s.typeText(p.Items)
	case p.AdditionalProperties != nil:
		return "map of " + s.typeText(p.AdditionalProperties)
	case strings.HasPrefix(p.Ref, "pulumi.json#/"): // Any, Asset, Archive, Json
		return strings.ToLower(strings.TrimPrefix(p.Ref, "pulumi.json#/"))
	case p.Ref != "":
		return p.Ref[strings.LastIndexAny(p.Ref, "#/:")+1:]
	}
	return p.Type
}

// Parse returns the value of a property that is written as a text: as it is, or in YAML if the property is a list or an object, or nil.
func (s *Schema) Parse(p *Property, text string) (property.Value, error) {
	if p == nil || s.kindOf(p) == isOther {
		return parse([]byte(text))
	}
	return s.kindOf(p).parse(text)
}
