package shape

import (
	"cmp"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// Type holds the measures of one declared type.
type Type struct {
	Name    string
	File    string
	Methods int  // declared for it; for an interface all methods that it requires
	Fields  int  // 0 if it is no struct; fields of an unnamed struct type count for the struct that contains it
	Bools   int  // fields of type bool
	Wire    bool // a struct in which every field has a name in a format, which decides what fields there are
}

// types measures every declared type, including those declared in functions.
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
	// A type declared as another type has the size of that one, which is measured where it is declared.
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
