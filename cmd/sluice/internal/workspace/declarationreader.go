package workspace

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// declarationReader reads the settings that a project declares.
type declarationReader struct {
	fields  *fieldReader
	project string // its name
	list    []Declaration
}

// all reads the declarations in a mapping, and returns them by key.
func (r *declarationReader) all(n *yaml.Node) []Declaration {
	for i := 0; i+1 < len(n.Content) && r.fields.err == nil; i += 2 {
		r.read(resolve(n.Content[i]), resolve(n.Content[i+1]))
	}
	slices.SortFunc(r.list, func(a, b Declaration) int { return CompareKeys(a.Key, b.Key) })
	for i := 1; i < len(r.list); i++ {
		if d := r.list[i]; d.Key == r.list[i-1].Key && r.fields.err == nil {
			r.fields.err = r.fields.doc.errorAt(d.Line, fmt.Sprintf("the setting %s is declared twice", d.Key), "remove one of the declarations")
		}
	}
	return r.list
}

// read reads the declaration of one setting.
func (r *declarationReader) read(name, n *yaml.Node) {
	key, err := ParseKey(name.Value, r.project)
	if err != nil {
		r.fields.fail(name, err.Error(), "")
		return
	}
	d := Declaration{Key: key, Line: name.Line}
	if n.Kind != yaml.MappingNode {
		r.bare(&d, n)
	} else {
		r.full(&d, n)
	}
	if r.fields.err == nil {
		r.list = append(r.list, d)
	}
}

// bare reads `key: value`: a default in the project's namespace, a value in other namespaces.
func (r *declarationReader) bare(d *Declaration, n *yaml.Node) {
	v, err := r.fields.doc.value(n)
	if err != nil {
		r.fields.err = err
		return
	}
	if d.Key.Namespace == r.project {
		d.Default, d.HasDefault = v, !isNull(n)
		return
	}
	d.Value, d.HasValue = v, true
}

// full reads a declaration that is a mapping.
func (r *declarationReader) full(d *Declaration, n *yaml.Node) {
	r.fields.refuseOthers(n, fmt.Sprintf("the declaration of %s", d.Key), "type", "items", "description", "secret", "default", "value")
	d.Description = r.fields.text(n, "description", "")
	d.Type = r.typeOf(n, d.Key.String())
	d.Default, d.HasDefault = r.fields.value(n, "default")
	d.Value, d.HasValue = r.fields.value(n, "value")
	if secret := r.fields.text(n, "secret", "write true or false"); secret != "" {
		d.Secret = secret == "true"
	}
	if r.fields.err != nil {
		return
	}
	own := d.Key.Namespace == r.project
	switch {
	case !own && (d.Type != nil || d.HasDefault):
		r.fields.fail(n, fmt.Sprintf("%s belongs to another namespace, so it can have a `value` but no `type` or `default`", d.Key), "")
	case !own && !d.HasValue:
		r.fields.fail(n, fmt.Sprintf("%s has no `value`", d.Key), "write `value: ...`")
	case d.HasDefault && d.HasValue:
		r.fields.fail(n, fmt.Sprintf("%s has both `default` and `value`", d.Key), "keep one of them")
	case d.HasDefault && d.Type != nil && !d.Type.accepts(d.Default):
		r.fields.fail(n, fmt.Sprintf("the default of %s is not of the type %s", d.Key, d.Type), "")
	}
}

var typeNames = []string{"string", "integer", "boolean", "array", "object"}

// typeOf returns the declared type of a value, nil if there is none.
func (r *declarationReader) typeOf(n *yaml.Node, what string) *Type {
	name := r.fields.text(n, "type", "write one of "+strings.Join(typeNames, ", "))
	if name == "" || r.fields.err != nil {
		return nil
	}
	_, at := child(n, "type")
	if !slices.Contains(typeNames, name) {
		r.fields.fail(at, fmt.Sprintf("%s has the unknown type %q", what, name), "write one of "+strings.Join(typeNames, ", "))
		return nil
	}
	t := &Type{Name: name}
	if name != "array" {
		return t
	}
	items := r.fields.mapping(n, "items")
	if items == nil {
		r.fields.fail(at, what+" is an array without `items`", "write `items: {type: string}`")
		return nil
	}
	if t.Items = r.typeOf(items, "the elements of "+what); t.Items == nil {
		r.fields.fail(items, "the elements of "+what+" have no type", "write `items: {type: string}`")
		return nil
	}
	return t
}
