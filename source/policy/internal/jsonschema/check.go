package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// location is where a value is in the checked one.
type location []string

func (l location) below(token string) location { return append(slices.Clip(l), token) }

func (l location) fault(format string, args ...any) []string {
	what := fmt.Sprintf(format, args...)
	if len(l) > 0 {
		what = strings.Join(l, ".") + ": " + what
	}
	return []string{what}
}

// active are the schemas by which the same value is being checked.
type active struct {
	schema uintptr
	outer  *active
}

func (a *active) has(schema uintptr) bool {
	for ; a != nil; a = a.outer {
		if a.schema == schema {
			return true
		}
	}
	return false
}

// check returns the faults of a value. A value that has not the type, is none of the listed values or has not the format has only that fault.
func check(s *Schema, n node, value any, at location, outer *active) []string {
	n = s.enter(n)
	object, ok := n.schema.(map[string]any)
	if !ok {
		if n.schema == false {
			return at.fault("false schema")
		}
		return nil
	}
	if outer.has(address(object)) {
		return at.fault("its schema refers to itself")
	}
	self := &active{address(object), outer}
	if ref, ok := object["$ref"].(string); ok { // other keywords beside it mean nothing
		target, err := s.resolve(n.in, ref)
		if err != nil {
			return at.fault("%v", err)
		}
		return check(s, target, value, at, self)
	}
	if faults := checkItself(object, value, at); faults != nil {
		return faults
	}
	v := &visit{schema: s, object: object, in: n.in, at: at, self: self}
	switch value := value.(type) {
	case map[string]any:
		v.checkObject(value)
	case []any:
		v.checkArray(value)
	case string:
		v.checkText(value)
	default:
		if number, ok := numberOf(value); ok {
			v.checkNumber(number)
		}
	}
	v.checkBy(value)
	return v.faults
}

// checkItself checks the type of a value, which values it may be, and its format.
func checkItself(object map[string]any, value any, at location) []string {
	if wanted := typesOf(object["type"]); len(wanted) > 0 {
		is := typeOf(value)
		number, isNumber := numberOf(value)
		if !slices.Contains(wanted, is) && !(isNumber && slices.Contains(wanted, "integer") && rational(number).IsInt()) {
			return at.fault("got %s, want %s", is, strings.Join(wanted, " or "))
		}
	}
	if constant, ok := object["const"]; ok && !equal(value, constant) {
		if !simple(constant) {
			return at.fault("'const' failed")
		}
		return at.fault("value must be %s", show(constant))
	}
	if listed, ok := object["enum"].([]any); ok && !slices.ContainsFunc(listed, func(one any) bool { return equal(value, one) }) {
		if !slices.ContainsFunc(listed, func(one any) bool { return !simple(one) }) {
			return at.fault("value must be %s", oneOf(listed))
		}
		return at.fault("'enum' failed")
	}
	if given, ok := value.(string); ok {
		format := text(object, "format")
		if is := formats[format]; is != nil {
			if err := is(given); err != nil {
				return at.fault("%s is not valid %s: %v", quote(given), format, err)
			}
		}
	}
	return nil
}

// visit is the check of one value by one schema, beyond what is in checkItself.
type visit struct {
	schema *Schema
	object map[string]any
	in     *resource
	at     location
	self   *active
	faults []string
}

func (v *visit) fault(format string, args ...any) {
	v.faults = append(v.faults, v.at.fault(format, args...)...)
}

// by checks the same value by another schema.
func (v *visit) by(schema, value any) []string {
	return check(v.schema, node{schema, v.in}, value, v.at, v.self)
}

// below checks a value in this one.
func (v *visit) below(schema, value any, token string) []string {
	return check(v.schema, node{schema, v.in}, value, v.at.below(token), nil)
}

func (v *visit) checkObject(value map[string]any) {
	v.bounds("minProperties", "maxProperties", len(value))
	missing := absent(value, v.object["required"])
	if len(missing) == 1 {
		v.fault("missing property %s", missing[0])
	} else if len(missing) > 1 {
		v.fault("missing properties %s", strings.Join(missing, ", "))
	}
	for name, needed := range members(v.object["dependencies"]) {
		if _, there := value[name]; !there {
			continue
		}
		if _, isList := needed.([]any); !isList {
			v.faults = append(v.faults, v.by(needed, value)...)
		} else if missing := absent(value, needed); len(missing) > 0 {
			v.fault("properties %s required, if %s exists", strings.Join(missing, ", "), quote(name))
		}
	}
	named, patterns := members(v.object["properties"]), members(v.object["patternProperties"])
	additional, limited := v.object["additionalProperties"]
	var unwanted []string
	for _, name := range slices.Sorted(maps.Keys(value)) {
		schema, known := named[name]
		if known {
			v.faults = append(v.faults, v.below(schema, value[name], name)...)
		}
		for pattern, schema := range patterns {
			if p := v.schema.pattern(pattern); p != nil && p.MatchString(name) {
				known = true
				v.faults = append(v.faults, v.below(schema, value[name], name)...)
			}
		}
		switch {
		case known || !limited:
		case additional == false:
			unwanted = append(unwanted, quote(name))
		default:
			v.faults = append(v.faults, v.below(additional, value[name], name)...)
		}
		if names, ok := v.object["propertyNames"]; ok {
			if faults := check(v.schema, node{names, v.in}, name, v.at, nil); len(faults) > 0 {
				v.fault("invalid propertyName %s", quote(name))
				v.faults = append(v.faults, faults...)
			}
		}
	}
	if len(unwanted) > 0 {
		v.fault("additional properties %s not allowed", strings.Join(unwanted, ", "))
	}
}

func (v *visit) checkArray(value []any) {
	v.bounds("minItems", "maxItems", len(value))
	if v.object["uniqueItems"] == true {
		if i, j, ok := duplicates(value); ok {
			v.fault("items at %d and %d are equal", i, j)
		}
	}
	items, limited := v.object["items"]
	if each, isList := items.([]any); isList {
		additional, limited := v.object["additionalItems"]
		for i, one := range value {
			switch {
			case i < len(each):
				v.faults = append(v.faults, v.below(each[i], one, strconv.Itoa(i))...)
			case limited && additional != false:
				v.faults = append(v.faults, v.below(additional, one, strconv.Itoa(i))...)
			}
		}
		if more := len(value) - len(each); more > 0 && additional == false {
			v.fault("last %d additionalItem(s) not allowed", more)
		}
	} else if limited {
		for i, one := range value {
			v.faults = append(v.faults, v.below(items, one, strconv.Itoa(i))...)
		}
	}
	if contained, ok := v.object["contains"]; ok {
		var faults []string
		for i, one := range value {
			found := v.below(contained, one, strconv.Itoa(i))
			if len(found) == 0 {
				return
			}
			faults = append(faults, found...)
		}
		v.fault("no items match contains schema")
		v.faults = append(v.faults, faults...)
	}
}

func (v *visit) checkText(value string) {
	v.bounds("minLength", "maxLength", utf8.RuneCountInString(value))
	if pattern, ok := v.object["pattern"].(string); ok {
		if p := v.schema.pattern(pattern); p != nil && !p.MatchString(value) {
			v.fault("%s does not match pattern %s", quote(value), quote(pattern))
		}
	}
}

func (v *visit) checkNumber(value float64) {
	for _, limit := range []struct {
		keyword string
		broken  func(value, limit float64) bool
	}{
		{"minimum", func(value, limit float64) bool { return value < limit }},
		{"maximum", func(value, limit float64) bool { return value > limit }},
		{"exclusiveMinimum", func(value, limit float64) bool { return value <= limit }},
		{"exclusiveMaximum", func(value, limit float64) bool { return value >= limit }},
		{"multipleOf", func(value, limit float64) bool {
			return limit != 0 && !new(big.Rat).Quo(rational(value), rational(limit)).IsInt()
		}},
	} {
		if wanted, ok := numberOf(v.object[limit.keyword]); ok && limit.broken(value, wanted) {
			v.fault("%s: got %s, want %s", limit.keyword, show(value), show(wanted))
		}
	}
}

// checkBy checks a value by the schemas that are about the same value.
func (v *visit) checkBy(value any) {
	if not, ok := v.object["not"]; ok && len(v.by(not, value)) == 0 {
		v.fault("'not' failed")
	}
	if faults, _, listed := v.each("allOf", value); listed && len(faults) > 0 {
		v.fault("'allOf' failed")
		v.faults = append(v.faults, faults...)
	}
	if faults, fitting, listed := v.each("anyOf", value); listed && len(fitting) == 0 {
		v.fault("'anyOf' failed")
		v.faults = append(v.faults, faults...)
	}
	if faults, fitting, listed := v.each("oneOf", value); listed && len(fitting) == 0 {
		v.fault("'oneOf' failed, none matched")
		v.faults = append(v.faults, faults...)
	} else if len(fitting) > 1 {
		v.fault("'oneOf' failed, subschemas %d, %d matched", fitting[0], fitting[1])
	}
	if condition, ok := v.object["if"]; ok {
		keyword := "then"
		if len(v.by(condition, value)) > 0 {
			keyword = "else"
		}
		if schema, ok := v.object[keyword]; ok {
			v.faults = append(v.faults, v.by(schema, value)...)
		}
	}
}

// each checks a value by a list of schemas, and returns which of them it fits.
func (v *visit) each(keyword string, value any) (faults []string, fitting []int, listed bool) {
	list := listOf(v.object[keyword])
	for i, schema := range list {
		found := v.by(schema, value)
		faults = append(faults, found...)
		if len(found) == 0 {
			fitting = append(fitting, i)
		}
	}
	return faults, fitting, len(list) > 0
}

func (v *visit) bounds(least, most string, is int) {
	if limit, ok := numberOf(v.object[least]); ok && float64(is) < limit {
		v.fault("%s: got %d, want %s", least, is, show(limit))
	}
	if limit, ok := numberOf(v.object[most]); ok && float64(is) > limit {
		v.fault("%s: got %d, want %s", most, is, show(limit))
	}
}

// absent returns the quoted names of a list that are not in an object.
func absent(object map[string]any, names any) []string {
	var out []string
	for _, one := range listOf(names) {
		name, isText := one.(string)
		if _, there := object[name]; isText && !there {
			out = append(out, quote(name))
		}
	}
	return out
}

// duplicates returns the first two equal items.
func duplicates(list []any) (int, int, bool) {
	first := map[string]int{}
	for j, one := range list {
		form, err := json.Marshal(one)
		if err != nil {
			continue
		}
		if i, ok := first[string(form)]; ok {
			return i, j, true
		}
		first[string(form)] = j
	}
	return 0, 0, false
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func members(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

var types = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

// typesOf returns the wanted types, in the order of types.
func typesOf(value any) []string {
	list := listOf(value)
	if one, ok := value.(string); ok {
		list = []any{one}
	}
	var out []string
	for _, name := range types {
		if slices.Contains(list, any(name)) {
			out = append(out, name)
		}
	}
	return out
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func numberOf(value any) (float64, bool) {
	number, ok := value.(float64)
	return number, ok
}

// rational returns the number that is written like a float, so that 0.3 is three times 0.1.
func rational(number float64) *big.Rat {
	out, ok := new(big.Rat).SetString(strconv.FormatFloat(number, 'g', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return out
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func simple(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

func oneOf(list []any) string {
	if len(list) == 1 {
		return show(list[0])
	}
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = show(one)
	}
	return "one of " + strings.Join(texts, ", ")
}

// show returns a simple value as people write it.
func show(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return quote(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func quote(text string) string {
	text = strings.ReplaceAll(fmt.Sprintf("%q", text), `\"`, `"`)
	return "'" + strings.ReplaceAll(text[1:len(text)-1], "'", `\'`) + "'"
}
