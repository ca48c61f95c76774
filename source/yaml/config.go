package yaml

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/stages"
)

const configKind = "configuration value"

// stackValues enters the values that the stack has: those of the project without its name (protocol.md 11.3).
func (s *scope) stackValues(info stages.RunInfo) {
	for key, text := range info.Config {
		name := strings.TrimPrefix(key, s.project+":")
		v := untyped(text)
		if slices.Contains(info.ConfigSecretKeys, key) {
			v = property.MakeSecret(v)
		}
		s.config[name] = &node{kind: configKind, name: name, value: v}
	}
}

// untyped is what a value of the stack is when the program does not declare its type.
func untyped(text string) property.Value {
	if len(text) > 1 && text[0] == '0' && text[1] != '.' {
		return property.String(text)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return property.Number(f)
	}
	if b, err := strconv.ParseBool(text); err == nil {
		return property.Bool(b)
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return property.Plain(v)
	}
	return property.String(text)
}

// configType is a declared type: name, and that of the elements of a list.
type configType struct{ name, element string }

func configTypeNames() []string {
	return []string{"string", "number", "integer", "boolean", "object", "array", "List<string>", "List<number>", "List<integer>",
		"List<boolean>", "List<object>"}
}

// parseConfigType reads the name of a type, whatever its case.
func parseConfigType(name, items string) (configType, bool) {
	scalar := func(name string) string {
		switch name := strings.ToLower(strings.TrimSpace(name)); name {
		case "int":
			return "integer"
		case "bool":
			return "boolean"
		case "string", "number", "integer", "boolean", "object":
			return name
		}
		return ""
	}
	lower := strings.ToLower(strings.TrimSpace(name))
	if lower == "array" {
		return configType{"list", scalar(items)}, true
	}
	if inner, ok := strings.CutPrefix(lower, "list<"); ok && strings.HasSuffix(inner, ">") {
		element := scalar(strings.TrimSuffix(inner, ">"))
		return configType{"list", element}, element != ""
	}
	t := configType{name: scalar(name)}
	return t, t.name != ""
}

func (t configType) String() string {
	if t.name != "list" {
		return t.name
	}
	if t.element == "" {
		return "list"
	}
	return "List<" + t.element + ">"
}

// declareConfig enters what the program says about its configuration. A value of the stack wins over a default.
func (e *evaluation) declareConfig(c *ast.Config) {
	n := &node{kind: configKind, name: c.Key.Value, at: c.Key.At, config: c}
	stack := e.scope.config[strings.TrimPrefix(c.Lookup(), e.scope.project+":")]
	if stack != nil && stack.config != nil {
		stack = nil // declared under that name, not a value of the stack
	}
	if given := e.scope.config[n.name]; given != nil && given.config == nil {
		delete(e.scope.config, n.name)
		if c.Lookup() == c.Key.Value {
			stack = given
		}
	}
	if !e.scope.declare(e.scope.config, n, &e.found) {
		return
	}
	v, ok := e.configValue(c, n, stack)
	if !ok {
		n.poisoned = true
		return
	}
	if c.Secret.Value {
		v = property.MakeSecret(v)
	}
	n.value = v
}

// declaredType reads the type that an entry declares, the zero type if it declares none.
func (e *evaluation) declaredType(c *ast.Config) (configType, bool) {
	if !c.Type.IsGiven() {
		return configType{}, true
	}
	t, ok := parseConfigType(c.Type.Value, c.ItemsType.Value)
	if !ok {
		_ = e.fail(c.Type.At, "there are: "+strings.Join(configTypeNames(), ", "), "%q is no type of configuration", c.Type.Value)
	}
	return t, ok
}

func (e *evaluation) configValue(c *ast.Config, n *node, stack *node) (property.Value, bool) {
	t, ok := e.declaredType(c)
	if !ok {
		return property.Null, false
	}
	n.isInteger = t.name == "integer"
	switch {
	case stack != nil:
		return e.stackValue(c, n, t, stack)
	case c.Default != nil:
		return e.configDefault(c, n, t)
	case t.name == "":
		_ = e.fail(c.Key.At, "declare one of them", "the configuration value %q has neither a `type` nor a `default`", n.name)
	default:
		_ = e.fail(c.Key.At, fmt.Sprintf("set it with `sluice config set %s <value>`", c.Lookup()),
			"the configuration value %q has no default, and the stack does not set it", n.name)
	}
	return property.Null, false
}

// stackValue is what the stack has, as a value of the declared type.
func (e *evaluation) stackValue(c *ast.Config, n *node, t configType, stack *node) (property.Value, bool) {
	if stack.value.IsSecret() && c.Secret.IsGiven() && !c.Secret.Value {
		_ = e.fail(c.Secret.At, "", "the configuration value %q is a secret in the stack, so the program cannot declare it as none", n.name)
		return property.Null, false
	}
	inner, secret := stack.value.Unwrap()
	v, ok := t.fit(inner, e.info.Config[e.configKey(c.Lookup())])
	if !ok {
		_ = e.fail(c.Key.At, fmt.Sprintf("correct it with `sluice config set %s`", c.Lookup()),
			"the configuration value %q is declared as %v, and the stack has something else", n.name, t)
		return property.Null, false
	}
	if secret {
		v = property.MakeSecret(v)
	}
	return v, true
}

func (e *evaluation) configDefault(c *ast.Config, n *node, t configType) (property.Value, bool) {
	if !e.needsOnlyConfig(c.Default, fmt.Sprintf("the default of %q", n.name)) {
		return property.Null, false
	}
	v, err := e.eval(c.Default)
	if err != nil {
		return property.Null, false
	}
	plain := v.StripSecretsAndOutputs()
	actual, mixed := typeOfValue(plain)
	if mixed != "" {
		_ = e.fail(c.Default.Range(), "", "the elements of a list must be of one type, and these are %s", mixed)
		return property.Null, false
	}
	if t.name == "" {
		return v, true
	}
	if _, ok := t.fit(plain, ""); !ok {
		_ = e.fail(c.Default.Range(), "", "the default of %q is of the type %v, and its declared type is %v", n.name, actual, t)
		return property.Null, false
	}
	return v, true
}

// needsOnlyConfig makes sure that an expression can be evaluated before everything else. what names it in messages.
func (e *evaluation) needsOnlyConfig(x ast.Expr, what string) bool {
	before := e.found.Errors()
	ast.Walk(x, func(x ast.Expr) {
		if i, ok := x.(*ast.Invoke); ok {
			_ = e.fail(i.Token.At, "", "%s cannot call a package's function", what)
		}
	})
	ast.Accesses(x, func(a *syntax.Access) {
		if a.Root == reserved {
			e.scope.bindFact(a, &e.found)
		} else if n := e.scope.find(a.Root); n == nil || !n.isConfig() {
			_ = e.fail(a.Range, "", "%s can only refer to %ss declared before it, and %q is none", what, e.scope.configs, a.Root)
		}
	})
	return e.found.Errors() == before
}

// configKey is the full key of a value of the configuration.
func (e *evaluation) configKey(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return e.scope.project + ":" + name
}

// fit returns a value as one of the type. text is what the stack has, "" for defaults: a number in a stack is the text that
// it is written as when the program wants a string.
func (t configType) fit(v property.Value, text string) (property.Value, bool) {
	switch t.name {
	case "":
		return v, true
	case "string":
		if text != "" || v.IsString() && v.AsString() == "" {
			return property.String(text), true
		}
		return v, v.IsString()
	case "number":
		return v, v.IsNumber()
	case "integer":
		return v, v.IsNumber() && v.AsNumber() == math.Trunc(v.AsNumber())
	case "boolean":
		return v, v.IsBool()
	case "object":
		return v, v.IsMap()
	}
	if !v.IsArray() {
		return v, false
	}
	for _, item := range v.AsArray().All() {
		if _, ok := (configType{name: t.element}).fit(item, ""); !ok {
			return v, false
		}
	}
	return v, true
}

// typeOfValue names the type of a value; mixed names those of a list's elements when they differ.
func typeOfValue(v property.Value) (t configType, mixed string) {
	switch {
	case v.IsString():
		return configType{name: "string"}, ""
	case v.IsNumber():
		return configType{name: "number"}, ""
	case v.IsBool():
		return configType{name: "boolean"}, ""
	case v.IsMap():
		return configType{name: "object"}, ""
	case v.IsArray():
		t.name = "list"
		for i, item := range v.AsArray().All() {
			element, _ := typeOfValue(item)
			if i > 0 && element.String() != t.element {
				return t, t.element + " and " + element.String()
			}
			t.element = element.String()
		}
		return t, ""
	}
	return configType{name: "null"}, ""
}
