package config

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
)

// Type is a declared type: its name, and that of the elements of a list. The zero Type is any type, for entries that declare none.
type Type struct{ Name, Element string }

// The names of types.
const (
	String  = "string"
	Number  = "number"
	Integer = "integer"
	Boolean = "boolean"
	Object  = "object"
	List    = "list"
)

// Names returns the type names that programs may write, for hints.
func Names() []string {
	return []string{"string", "number", "integer", "boolean", "object", "array", "List<string>", "List<number>", "List<integer>",
		"List<boolean>", "List<object>"}
}

// Declared returns the type that an entry declares. ok is false if there is no such type.
func Declared(c *ast.Config) (t Type, ok bool) {
	if !c.Type.IsGiven() {
		return Type{}, true
	}
	return parse(c.Type.Value, c.ItemsType.Value)
}

// parse reads the name of a type, ignoring case.
func parse(name, items string) (Type, bool) {
	lower := strings.ToLower(strings.TrimSpace(name))
	if lower == "array" {
		return Type{List, scalar(items)}, true
	}
	if inner, ok := strings.CutPrefix(lower, "list<"); ok && strings.HasSuffix(inner, ">") {
		element := scalar(strings.TrimSuffix(inner, ">"))
		return Type{List, element}, element != ""
	}
	t := Type{Name: scalar(name)}
	return t, t.Name != ""
}

// scalar reads the name of a type that is not a list, "" for other names.
func scalar(name string) string {
	switch name := strings.ToLower(strings.TrimSpace(name)); name {
	case "int":
		return Integer
	case "bool":
		return Boolean
	case String, Number, Integer, Boolean, Object:
		return name
	}
	return ""
}

func (t Type) String() string {
	if t.Name != List {
		return t.Name
	}
	if t.Element == "" {
		return "list"
	}
	return "List<" + t.Element + ">"
}

// Fit returns a value as a value of the type. text is the stack's text, "" for other values: as a string, a number in a stack is its text.
func (t Type) Fit(v property.Value, text string) (property.Value, bool) {
	switch t.Name {
	case "":
		return v, true
	case String:
		if text != "" || v.IsString() && v.AsString() == "" {
			return property.String(text), true
		}
		return v, v.IsString()
	case Number:
		return v, v.IsNumber()
	case Integer:
		return v, v.IsNumber() && v.AsNumber() == math.Trunc(v.AsNumber())
	case Boolean:
		return v, v.IsBool()
	case Object:
		return v, v.IsMap()
	}
	if !v.IsArray() {
		return v, false
	}
	for _, item := range v.AsArray().All() {
		if _, ok := (Type{Name: t.Element}).Fit(item, ""); !ok {
			return v, false
		}
	}
	return v, true
}

// TypeOf returns the type of a value. If the elements of a list differ, mixed lists their types.
func TypeOf(v property.Value) (t Type, mixed string) {
	switch {
	case v.IsString():
		return Type{Name: String}, ""
	case v.IsNumber():
		return Type{Name: Number}, ""
	case v.IsBool():
		return Type{Name: Boolean}, ""
	case v.IsMap():
		return Type{Name: Object}, ""
	case v.IsArray():
		t.Name = List
		for i, item := range v.AsArray().All() {
			element, _ := TypeOf(item)
			if i > 0 && element.String() != t.Element {
				return t, t.Element + " and " + element.String()
			}
			t.Element = element.String()
		}
		return t, ""
	}
	return Type{Name: "null"}, ""
}

// Untyped returns a value of the stack without a declared type.
func Untyped(text string) property.Value {
	if len(text) > 1 && text[0] == '0' && text[1] != '.' {
		return property.String(text)
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return property.Number(float64(i)) // -0 is 0
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return property.Number(f)
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return property.Bool(b)
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		if value, err := property.FromGo(v); err == nil {
			return value
		}
	}
	return property.String(text)
}
