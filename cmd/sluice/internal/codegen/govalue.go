package codegen

import (
	"fmt"
	"strconv"
	"strings"
)

// structFields writes the fields of an Args struct.
func (w *goWriter) structFields(fs []field) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, f := range fs {
		if l, ok := f.value.(literal); ok && l.value.IsNull() {
			continue
		}
		value := w.value(f.value)
		if f.spec.isPlain {
			value = w.plain(f.value, !f.spec.isRequired)
		}
		fmt.Fprintf(&b, "%s: %s,\n", w.fieldName(f), value)
	}
	b.WriteString("}")
	return b.String()
}

func (w *goWriter) fieldName(f field) string {
	if f.spec.goName != "" {
		return title(f.spec.goName)
	}
	name := strings.TrimLeft(f.name, "$_")
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		b.WriteString(title(part))
	}
	if b.Len() == 0 {
		return "Resource"
	}
	return b.String()
}

// typeName returns the name of an input type without its suffix: "pulumi.String", "s3.BucketRule". Arrays and maps
// append Array and Map to it. ok is false for a type that has no named array.
func (w *goWriter) typeName(t *typeSpec) (name string, ok bool) {
	switch t.kindOf() {
	case boolKind:
		return "pulumi.Bool", true
	case integerKind:
		return "pulumi.Int", true
	case numberKind:
		return "pulumi.Float64", true
	case stringKind:
		return "pulumi.String", true
	case enumKind, objectKind:
		return w.qualifier(t.token) + title(nameOfToken(t.token)), true
	case arrayKind:
		element, ok := w.typeName(t.element)
		return element + "Array", ok
	case mapKind:
		element, ok := w.typeName(t.element)
		return element + "Map", ok
	case assetKind:
		return "pulumi.AssetOrArchive", true
	case archiveKind:
		return "pulumi.Archive", true
	case unionKind, anyKind:
		return "pulumi.", true // pulumi.Array and pulumi.Map hold anything
	}
	return "", false
}

// value formats an expression as an input.
func (w *goWriter) value(e expression) string {
	switch e := e.(type) {
	case literal:
		return w.literal(e)
	case list:
		name := "pulumi.Array"
		if e.typ.kindOf() == arrayKind {
			name, _ = w.typeName(e.typ)
		}
		var b strings.Builder
		b.WriteString(name + "{")
		for _, item := range e.items {
			b.WriteString("\n" + w.value(item) + ",")
		}
		if len(e.items) > 0 {
			b.WriteString("\n")
		}
		return b.String() + "}"
	case object:
		if e.typ.kindOf() == objectKind {
			name, _ := w.typeName(e.typ)
			return "&" + name + "Args" + w.structFields(e.fields)
		}
		name := "pulumi.Map"
		if e.typ.kindOf() == mapKind {
			name, _ = w.typeName(e.typ)
		}
		return name + w.mapFields(e.fields)
	case asset:
		return fmt.Sprintf("pulumi.New%s(%s)", e.constructor, strconv.Quote(e.text))
	case members:
		return "pulumi.NewAssetArchive(map[string]interface{}" + w.mapFields(e.fields) + ")"
	case idOf:
		return e.variable + ".ID()"
	case setting:
		return "cfg." + goGetters[e.typ.kindOf()] + "(" + strconv.Quote(e.key) + ")"
	case secretly:
		return w.secretly(e)
	}
	return "nil"
}

var goGetters = map[kind]string{
	stringKind: "RequireSecret", boolKind: "RequireSecretBool", integerKind: "RequireSecretInt", numberKind: "RequireSecretFloat64",
}

// secretly formats a value that is marked as secret. The outputs of scalars have types of their own.
func (w *goWriter) secretly(e secretly) string {
	text := "pulumi.ToSecret(" + w.value(e.value) + ")"
	if l, ok := e.value.(literal); ok {
		switch {
		case l.value.IsString():
			return text + ".(pulumi.StringOutput)"
		case l.value.IsBool():
			return text + ".(pulumi.BoolOutput)"
		case l.value.IsNumber() && l.typ.kindOf() == integerKind:
			return text + ".(pulumi.IntOutput)"
		case l.value.IsNumber():
			return text + ".(pulumi.Float64Output)"
		}
	}
	return text
}

func (w *goWriter) mapFields(fs []field) string {
	var b strings.Builder
	b.WriteString("{")
	for _, f := range fs {
		fmt.Fprintf(&b, "\n%s: %s,", strconv.Quote(f.name), w.value(f.value))
	}
	if len(fs) > 0 {
		b.WriteString("\n")
	}
	return b.String() + "}"
}

func (w *goWriter) literal(l literal) string {
	text := rawGo(l)
	switch {
	case l.value.IsNull():
		return "nil"
	case l.typ.kindOf() == enumKind:
		name, _ := w.typeName(l.typ)
		return name + "(" + text + ")"
	case l.value.IsString():
		return "pulumi.String(" + text + ")"
	case l.value.IsBool():
		return "pulumi.Bool(" + text + ")"
	case l.typ.kindOf() == integerKind:
		return "pulumi.Int(" + text + ")"
	}
	return "pulumi.Float64(" + text + ")"
}

// rawGo formats a literal of Go.
func rawGo(l literal) string {
	switch {
	case l.value.IsString():
		return strconv.Quote(l.value.AsString())
	case l.value.IsBool():
		return strconv.FormatBool(l.value.AsBool())
	case l.value.IsNumber():
		return number(l.value.AsNumber())
	}
	return "nil"
}

// plain formats an expression for a field that takes Go values instead of inputs. An optional value is a pointer.
func (w *goWriter) plain(e expression, optional bool) string {
	l, ok := e.(literal)
	if !ok {
		return w.value(e)
	}
	text := rawGo(l)
	if l.typ.kindOf() == enumKind {
		name, _ := w.typeName(l.typ)
		text = name + "(" + text + ")"
		if optional {
			return "func() *" + name + " { v := " + text + "; return &v }()"
		}
		return text
	}
	if !optional {
		return text
	}
	switch {
	case l.value.IsString():
		return "pulumi.StringRef(" + text + ")"
	case l.value.IsBool():
		return "pulumi.BoolRef(" + text + ")"
	case l.typ.kindOf() == integerKind:
		return "pulumi.IntRef(" + text + ")"
	case l.value.IsNumber():
		return "pulumi.Float64Ref(" + text + ")"
	}
	return text
}
