package workspace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Declaration is a setting that the project file declares (state.md 6.2).
type Declaration struct {
	Key         Key
	Type        *Type // nil if every value is allowed
	Description string
	Default     Value
	HasDefault  bool
	Value       Value
	HasValue    bool
	Secret      bool
	Line        int
}

// Type is the type of a declared setting: string, integer, boolean, array or object.
type Type struct {
	Name  string
	Items *Type // of an array
}

// String returns the name, with the element type of arrays.
func (t *Type) String() string {
	if t.Name == "array" {
		return fmt.Sprintf("array<%s>", t.Items)
	}
	return t.Name
}

var typeNames = []string{"string", "integer", "boolean", "array", "object"}

func (pr *projectReader) readConfig() {
	_, n := child(pr.doc.root(), "config")
	if pr.err != nil || n == nil || isNull(resolve(n)) {
		return
	}
	n = resolve(n)
	if n.Kind == yaml.ScalarNode { // the obsolete spelling of stackConfigDir
		if pr.p.StackConfigDir != "" {
			pr.fail(n, "`config` is a text and `stackConfigDir` is set as well", "remove `config`")
			return
		}
		pr.p.StackConfigDir = n.Value
		return
	}
	if n.Kind != yaml.MappingNode {
		pr.fail(n, "`config` must be a mapping of keys to values, not "+describe(n), "")
		return
	}
	for i := 0; i+1 < len(n.Content) && pr.err == nil; i += 2 {
		pr.readDeclaration(resolve(n.Content[i]), resolve(n.Content[i+1]))
	}
	slices.SortFunc(pr.p.Declarations, func(a, b Declaration) int { return CompareKeys(a.Key, b.Key) })
	for i := 1; i < len(pr.p.Declarations); i++ {
		if d := pr.p.Declarations[i]; d.Key == pr.p.Declarations[i-1].Key && pr.err == nil {
			pr.err = pr.doc.errorAt(d.Line, fmt.Sprintf("the setting %s is declared twice", d.Key), "remove one of the declarations")
		}
	}
}

func (pr *projectReader) readDeclaration(name, n *yaml.Node) {
	key, err := ParseKey(name.Value, pr.p.Name)
	if err != nil {
		pr.fail(name, err.Error(), "")
		return
	}
	d := Declaration{Key: key, Line: name.Line}
	if n.Kind != yaml.MappingNode {
		pr.bareDeclaration(&d, n)
	} else {
		pr.fullDeclaration(&d, n)
	}
	if pr.err == nil {
		pr.p.Declarations = append(pr.p.Declarations, d)
	}
}

// bareDeclaration reads `key: value`: a default in the project's namespace, a value in other namespaces.
func (pr *projectReader) bareDeclaration(d *Declaration, n *yaml.Node) {
	v, err := pr.doc.value(n)
	if err != nil {
		pr.err = err
		return
	}
	if d.Key.Namespace == pr.p.Name {
		d.Default, d.HasDefault = v, !isNull(n)
		return
	}
	d.Value, d.HasValue = v, true
}

func (pr *projectReader) fullDeclaration(d *Declaration, n *yaml.Node) {
	d.Description = pr.text(n, "description", "")
	d.Type = pr.readType(n, d.Key.String())
	d.Default, d.HasDefault = pr.readValue(n, "default")
	d.Value, d.HasValue = pr.readValue(n, "value")
	if secret := pr.text(n, "secret", "write true or false"); secret != "" {
		d.Secret = secret == "true"
	}
	if pr.err != nil {
		return
	}
	own := d.Key.Namespace == pr.p.Name
	switch {
	case !own && (d.Type != nil || d.HasDefault):
		pr.fail(n, fmt.Sprintf("%s belongs to another namespace, so it can have a `value` but no `type` or `default`", d.Key), "")
	case !own && !d.HasValue:
		pr.fail(n, fmt.Sprintf("%s has no `value`", d.Key), "write `value: ...`")
	case d.HasDefault && d.HasValue:
		pr.fail(n, fmt.Sprintf("%s has both `default` and `value`", d.Key), "keep one of them")
	case d.HasDefault && d.Type != nil && !d.Type.accepts(d.Default):
		pr.fail(n, fmt.Sprintf("the default of %s is not of the type %s", d.Key, d.Type), "")
	}
}

func (pr *projectReader) readValue(n *yaml.Node, key string) (Value, bool) {
	_, v := child(n, key)
	if v == nil || pr.err != nil {
		return nil, false
	}
	value, err := pr.doc.value(v)
	if err != nil {
		pr.err = err
	}
	return value, !isNull(resolve(v))
}

func (pr *projectReader) readType(n *yaml.Node, what string) *Type {
	name := pr.text(n, "type", "write one of "+strings.Join(typeNames, ", "))
	if name == "" || pr.err != nil {
		return nil
	}
	_, at := child(n, "type")
	if !slices.Contains(typeNames, name) {
		pr.fail(at, fmt.Sprintf("%s has the unknown type %q", what, name), "write one of "+strings.Join(typeNames, ", "))
		return nil
	}
	t := &Type{Name: name}
	if name != "array" {
		return t
	}
	items := pr.mapping(n, "items")
	if items == nil {
		pr.fail(at, what+" is an array without `items`", "write `items: {type: string}`")
		return nil
	}
	if t.Items = pr.readType(items, "the elements of "+what); t.Items == nil {
		pr.fail(items, "the elements of "+what+" have no type", "write `items: {type: string}`")
		return nil
	}
	return t
}

// accepts reports whether a decrypted value has the type. A string that spells an integer or a boolean has that type,
// too.
func (t *Type) accepts(v Value) bool {
	switch t.Name {
	case "string":
		_, ok := v.(string)
		return ok
	case "integer":
		switch v := v.(type) {
		case json.Number:
			return isWhole(v.String())
		case string:
			return isWhole(v)
		}
		return false
	case "boolean":
		_, ok := v.(bool)
		return ok || v == "true" || v == "false"
	case "array":
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !t.Items.accepts(e) })
	}
	_, ok := v.(map[string]any)
	return ok
}

func isWhole(text string) bool {
	n := json.Number(text)
	if _, err := n.Int64(); err == nil {
		return true
	}
	f, err := n.Float64()
	return err == nil && f == float64(int64(f))
}
