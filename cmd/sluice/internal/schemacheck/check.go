// Package schemacheck finds mistakes in the schema of a package: invalid schemas, names that no language allows, dangling
// references.
//
// It does not generate code, and does not check the rules of single languages.
//
// Invariant: the problems of one schema are the same, in the same order, each time.
package schemacheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// Problem is one mistake. Path is its place, as in "resources/pkg:index:Thing/inputProperties/size".
type Problem struct{ Path, Text string }

func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// document has the checked parts of a schema.
type document struct {
	Name      string
	Version   string
	Meta      struct{ ModuleFormat string }
	Config    struct{ Variables map[string]typeSpec }
	Types     map[string]objectSpec
	Provider  resourceSpec
	Resources map[string]resourceSpec
	Functions map[string]functionSpec
}

type objectSpec struct {
	Type       string
	Properties map[string]typeSpec
	Required   []string
	Enum       []struct {
		Name  string
		Value any
	}
}

type resourceSpec struct {
	objectSpec
	InputProperties map[string]typeSpec
	RequiredInputs  []string
	StateInputs     *objectSpec
	Methods         map[string]string
}

type functionSpec struct {
	Inputs, Outputs *objectSpec
	ReturnType      json.RawMessage
}

type typeSpec struct {
	Type                 string
	Ref                  string `json:"$ref"`
	Items                *typeSpec
	AdditionalProperties *typeSpec
	OneOf                []typeSpec
}

// Check returns the problems of a schema in JSON. dangling allows references to members that the schema does not have. Check
// returns an error if the text is not JSON, or a part of it does not have the type that schemas require.
func Check(text []byte, dangling bool) ([]Problem, error) {
	c := checker{dangling: dangling}
	if err := json.Unmarshal(text, &c.doc); err != nil {
		return nil, err
	}
	c.pkg()
	c.properties("config/variables", c.doc.Config.Variables, nil)
	c.resource("provider", c.doc.Provider)
	for token, t := range sorted(c.doc.Types) {
		path := "types/" + token
		c.token(path, token)
		c.complexType(path, t)
	}
	for token, r := range sorted(c.doc.Resources) {
		path := "resources/" + token
		c.token(path, token)
		c.resource(path, r)
	}
	for token, f := range sorted(c.doc.Functions) {
		path := "functions/" + token
		c.token(path, token)
		c.function(path, f)
	}
	return c.found, nil
}

// sorted yields the members of a map in the order of their names.
func sorted[T any](m map[string]T) func(yield func(string, T) bool) {
	return func(yield func(string, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

type checker struct {
	doc      document
	dangling bool
	found    []Problem
}

func (c *checker) report(path, format string, args ...any) {
	c.found = append(c.found, Problem{path, fmt.Sprintf(format, args...)})
}

var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][-a-zA-Z0-9_]*$`) })

// pkg checks the fields of the package as a whole.
func (c *checker) pkg() {
	if !packageName().MatchString(c.doc.Name) {
		c.report("name", "%q is not the name of a package: it begins with a letter, and letters, digits, - and _ follow", c.doc.Name)
	}
	if v := c.doc.Version; v != "" {
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(v, "v")); err != nil {
			c.report("version", "%q is not a version: %v", v, err)
		}
	}
	if f := c.doc.Meta.ModuleFormat; f != "" {
		if _, err := regexp.Compile(f); err != nil {
			c.report("meta/moduleFormat", "not a valid regular expression: %v", err)
		}
	}
}

var memberName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*(/[a-zA-Z_][a-zA-Z0-9_]*)*$`) })

// token checks the name of a type, resource or function.
func (c *checker) token(path, token string) {
	parts := strings.Split(token, ":")
	switch {
	case len(parts) != 3:
		c.report(path, "a token has three parts, as in %s:index:Thing", c.doc.Name)
	case parts[0] != c.doc.Name && !(parts[0] == "pulumi" && parts[1] == "providers"):
		c.report(path, "its package is %q, and this is the schema of %q", parts[0], c.doc.Name)
	case !memberName().MatchString(parts[2]):
		c.report(path, "%q is not a name: letters, digits and _ are", parts[2])
	}
}

func (c *checker) complexType(path string, t objectSpec) {
	if len(t.Enum) == 0 {
		if t.Type != "" && t.Type != "object" {
			c.report(path, "its type is %q, and a type without an enum is an object", t.Type)
		}
		c.object(path, t)
		return
	}
	if !slices.Contains([]string{"string", "integer", "number", "boolean"}, t.Type) {
		c.report(path, "the type of an enum is string, integer, number or boolean, not %q", t.Type)
		return
	}
	for i, v := range t.Enum {
		if !fits(t.Type, v.Value) {
			c.report(fmt.Sprintf("%s/enum/%d", path, i), "the value %v is not of the type %s", v.Value, t.Type)
		}
	}
}

func fits(kind string, v any) bool {
	switch v := v.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && v == float64(int64(v))
	}
	return false
}

func (c *checker) object(path string, o objectSpec) {
	c.properties(path+"/properties", o.Properties, nil)
	c.required(path+"/required", o.Required, o.Properties)
}

// reserved are the properties that every resource has.
func reserved() []string { return []string{"urn"} }

func (c *checker) resource(path string, r resourceSpec) {
	c.properties(path+"/properties", r.Properties, reserved())
	c.required(path+"/required", r.Required, r.Properties)
	c.properties(path+"/inputProperties", r.InputProperties, reserved())
	c.required(path+"/requiredInputs", r.RequiredInputs, r.InputProperties)
	if r.StateInputs != nil {
		c.object(path+"/stateInputs", *r.StateInputs)
	}
	for name, token := range sorted(r.Methods) {
		if _, there := c.doc.Functions[token]; !there {
			c.report(path+"/methods/"+name, "there is no function %q", token)
		}
	}
}

func (c *checker) function(path string, f functionSpec) {
	for name, o := range map[string]*objectSpec{"inputs": f.Inputs, "outputs": f.Outputs} {
		if o != nil {
			c.object(path+"/"+name, *o)
		}
	}
	slices.SortStableFunc(c.found, func(a, b Problem) int { // in a function, inputs come first
		if strings.HasPrefix(a.Path, path+"/") && strings.HasPrefix(b.Path, path+"/") {
			return cmp.Compare(a.Path, b.Path)
		}
		return 0
	})
}

func (c *checker) properties(path string, m map[string]typeSpec, reserved []string) {
	for name, t := range sorted(m) {
		if slices.Contains(reserved, name) {
			c.report(path+"/"+name, "every resource has a property of this name already")
		}
		c.typ(path+"/"+name, t)
	}
}

func (c *checker) required(path string, names []string, properties map[string]typeSpec) {
	for _, name := range names {
		if _, there := properties[name]; !there {
			c.report(path, "there is no property %q", name)
		}
	}
}

// typ checks the type of a value.
func (c *checker) typ(path string, t typeSpec) {
	switch {
	case t.Ref != "":
		c.reference(path, t.Ref)
	case len(t.OneOf) > 0:
		for i, one := range t.OneOf {
			c.typ(fmt.Sprintf("%s/oneOf/%d", path, i), one)
		}
	case t.Type == "array":
		if t.Items == nil {
			c.report(path, "an array has `items`")
			return
		}
		c.typ(path+"/items", *t.Items)
	case t.Type == "object":
		if t.AdditionalProperties != nil {
			c.typ(path+"/additionalProperties", *t.AdditionalProperties)
		}
	case !slices.Contains([]string{"string", "integer", "number", "boolean"}, t.Type):
		c.report(path, "%q is not a type: boolean, integer, number, string, array, object, or a $ref", t.Type)
	}
}

// reference checks a $ref. References to other packages cannot be checked.
func (c *checker) reference(path, ref string) {
	file, fragment, found := strings.Cut(ref, "#")
	if !found || file == "" && !strings.HasPrefix(fragment, "/") {
		c.report(path, "the reference %q has no # with a path behind it, as in #/types/%s:index:Thing", ref, c.doc.Name)
		return
	}
	if file == "pulumi.json" && !slices.Contains([]string{"/Archive", "/Asset", "/Any", "/Json"}, fragment) {
		c.report(path, "pulumi.json has no %q: it has /Archive, /Asset, /Any and /Json", fragment)
	}
	if file != "" || c.dangling {
		return
	}
	kind, token, _ := strings.Cut(strings.TrimPrefix(fragment, "/"), "/")
	token = strings.NewReplacer("%2F", "/", "%2f", "/", "~1", "/").Replace(token)
	there := false
	switch kind {
	case "types":
		_, there = c.doc.Types[token]
	case "resources":
		_, there = c.doc.Resources[token]
	case "provider":
		there = true
	}
	if !there {
		c.report(path, "the reference %q leads to nothing", ref)
	}
}
