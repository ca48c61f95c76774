package shape

import (
	"cmp"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// Type is what is measured of one declared type.
type Type struct {
	Name    string
	File    string
	Methods int  // declared for it; of an interface all that it asks for
	Fields  int  // 0 if it is no struct; those of a struct type without a name count as fields of the struct that they are in
	Bools   int  // fields whose type is a bool
	Wire    bool // a struct whose every field has its name in a format, which decides what fields there are
}

// types measures every declared type, also those that functions declare.
func (s source) types() []Type {
	var list []Type
	for name, file := range s.written {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.TypeSpec); is {
				list = append(list, s.typeOf(spec, name))
			}
			return true
		})
	}
	slices.SortStableFunc(list, func(a, b Type) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File)) })
	return list
}

func (s source) typeOf(spec *ast.TypeSpec, file string) Type {
	t := Type{Name: spec.Name.Name, File: file}
	if named, is := s.TypesInfo.Defs[spec.Name].Type().(*types.Named); is {
		for i := range named.NumMethods() {
			if s.counts(named.Method(i).Pos()) {
				t.Methods++
			}
		}
	}
	// What is declared as another type has the size of that one, which is measured where it is declared.
	switch spec.Type.(type) {
	case *ast.StructType:
		fields := s.TypesInfo.TypeOf(spec.Type).(*types.Struct)
		t.Fields, t.Bools = fieldsOf(fields)
		t.Wire = isWire(fields)
	case *ast.InterfaceType:
		t.Methods = s.TypesInfo.TypeOf(spec.Type).(*types.Interface).NumMethods()
	}
	return t
}

func fieldsOf(t *types.Struct) (fields, bools int) {
	for field := range t.Fields() {
		if inner, is := field.Type().(*types.Struct); is {
			f, b := fieldsOf(inner)
			fields, bools = fields+f, bools+b
			continue
		}
		fields++
		if basic, is := field.Type().Underlying().(*types.Basic); is && basic.Kind() == types.Bool {
			bools++
		}
	}
	return fields, bools
}

// isWire reports whether every field of a struct has a name in JSON or YAML.
func isWire(t *types.Struct) bool {
	for i := range t.NumFields() {
		tag := reflect.StructTag(t.Tag(i))
		name, _, _ := strings.Cut(cmp.Or(tag.Get("json"), tag.Get("yaml")), ",")
		if name == "" || name == "-" {
			return false
		}
	}
	return t.NumFields() > 0
}
