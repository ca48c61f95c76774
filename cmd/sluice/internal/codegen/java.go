package codegen

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// writeJava writes a Java program.
func writeJava(doc *document) ([]byte, error) {
	w := &javaWriter{imports: map[string]string{}, taken: map[string]bool{}}
	for _, d := range doc.resources {
		w.taken[d.variable] = true
	}
	for _, class := range []string{"com.pulumi.Context", "com.pulumi.Pulumi"} {
		w.importClass(class)
	}
	var body bytes.Buffer
	for _, d := range doc.resources {
		w.resource(&body, d)
	}
	var out bytes.Buffer
	for _, class := range slices.Sorted(maps.Values(w.imports)) {
		out.WriteString("import " + class + ";\n")
	}
	out.WriteString("\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(App::stack);\n    }\n\n" +
		"    public static void stack(Context ctx) {\n")
	if len(doc.settings) > 0 {
		body = *bytes.NewBufferString(settingsComment("//", doc.settings) + "var config = ctx.config();\n" + body.String())
	}
	for line := range strings.Lines(body.String()) {
		out.WriteString("        " + line)
	}
	out.WriteString("    }\n}\n")
	return out.Bytes(), nil
}

type javaWriter struct {
	imports map[string]string // simple name -> class with its package
	taken   map[string]bool   // the names of variables and of the parameters of functions
	current *declaration
}

// outputs are the outputs inside of a list or a map that is being written. Java has no collections of inputs: the collection is made in a
// function that gets the values.
type outputs struct {
	code     []string
	isSecret bool
}

// add returns a mark, which lifted replaces by the value of an output.
func (o *outputs) add(code string) string {
	i := slices.Index(o.code, code)
	if i < 0 {
		i = len(o.code)
		o.code = append(o.code, code)
	}
	return mark(i)
}

// mark stands for the value of an output. No other code has the character.
func mark(i int) string { return fmt.Sprintf("\x00%d\x00", i) }

// importClass imports a class, and returns the name by which the program refers to it: the simple name, if nothing else has it.
func (w *javaWriter) importClass(class string) string {
	name := class[strings.LastIndexByte(class, '.')+1:]
	if slices.Contains(javaLang, name) || name == "App" {
		return class
	}
	if have, ok := w.imports[name]; ok && have != class {
		return class
	}
	w.imports[name] = class
	return name
}

// class imports the class of a token.
func (w *javaWriter) class(t urn.Type, part, suffix string) string {
	return w.importClass(javaPackage(w.current.pkg, t, part) + "." + javaClass(t) + suffix)
}

func (w *javaWriter) resource(out *bytes.Buffer, d *declaration) {
	w.current = d
	class, first := "", javaString(d.name())
	if d.isLocal {
		class, first = w.importClass("com.pulumi.resources.ComponentResource"), javaString(string(d.token))+", "+first
	} else {
		class = w.class(d.token, "", "")
	}
	options := w.options(d)
	arguments := []string{first}
	switch {
	case len(d.properties) > 0:
		arguments = append(arguments, w.builder(w.class(d.token, "", "Args"), d.properties, "", nil))
	case options != "" && !d.isLocal:
		arguments = append(arguments, w.class(d.token, "", "Args")+".Empty")
	}
	if options != "" {
		arguments = append(arguments, options)
	}
	if len(d.notes) > 0 {
		out.WriteString(javaComment(d.notes) + "\n")
	}
	fmt.Fprintf(out, "var %s = new %s(%s);\n", d.variable, class, strings.Join(arguments, ", "))
}

func (w *javaWriter) options(d *declaration) string {
	var b strings.Builder
	if d.parent != "" {
		b.WriteString("\n    .parent(" + d.parent + ")")
	}
	if d.provider != "" {
		b.WriteString("\n    .provider(" + d.provider + ")")
	}
	if d.state.Protect {
		b.WriteString("\n    .protect(true)")
	}
	if b.Len() == 0 {
		return ""
	}
	class := "com.pulumi.resources.ComponentResourceOptions"
	if d.state.Custom {
		class = "com.pulumi.resources.CustomResourceOptions"
	}
	return w.importClass(class) + ".builder()" + b.String() + "\n    .build()"
}

// builder formats the fields as calls of a builder. It leaves out values that Java cannot express, with a note.
func (w *javaWriter) builder(class string, fs []field, indent string, path []string) string {
	indent += "    "
	var b strings.Builder
	b.WriteString(class + ".builder()\n")
	for _, f := range fs {
		at := append(slices.Clone(path), f.name)
		if value, ok := w.argument(f, indent, at); ok {
			b.WriteString(indent + "." + javaSetter(f.name) + "(" + value + ")\n")
		}
	}
	b.WriteString(indent + ".build()")
	return b.String()
}

// omit notes that a value is left out.
func (w *javaWriter) omit(path []string, why string) (string, bool) {
	w.current.notes = append(w.current.notes, fmt.Sprintf("%s is not declared: %s.", strings.Join(path, "."), why))
	return "", false
}

// argument formats the value of a property. ok is false for a value that Java cannot express.
func (w *javaWriter) argument(f field, indent string, path []string) (code string, ok bool) {
	if len(path) == 1 {
		defer func(outer map[string]bool) { w.taken = outer }(maps.Clone(w.taken))
	}
	declared := f.spec.typ
	var outs outputs
	if code, ok = w.value(f.value, declared, indent, path, &outs); !ok {
		return "", false
	}
	if code == mark(0) {
		code = outs.code[0]
		v := w.parameter("v")
		if w.isObject(declared) {
			code += ".applyValue(" + v + " -> " + v + ")" // an Output<Object>
		} else if either, wrapped := w.either(v, declared, typeOf(f.value)); wrapped {
			code += ".applyValue(" + v + " -> " + either + ")"
		}
		if outs.isSecret {
			code += ".asSecret()"
		}
		return code, true
	}
	if len(outs.code) > 0 || outs.isSecret || w.isAmbiguous(declared) {
		code, _ = w.either(code, declared, typeOf(f.value))
	}
	switch {
	case len(outs.code) > 0:
		code = w.lifted(code, outs.code, indent)
		if outs.isSecret {
			code += ".asSecret()"
		}
	case outs.isSecret:
		code = w.importClass("com.pulumi.core.Output") + ".ofSecret(" + code + ")"
	}
	return code, true
}

// value formats an expression as a Java value. It adds the outputs in it to outs, and has marks in their place.
func (w *javaWriter) value(e expression, declared *typeSpec, indent string, path []string, outs *outputs) (code string, ok bool) {
	if declared != nil && declared.isForeign {
		return w.omit(path, "its type belongs to another package")
	}
	switch e := e.(type) {
	case literal:
		return w.literal(e, declared, path)
	case list:
		return w.listOf(e, indent, path, outs)
	case object:
		if e.typ.kindOf() == objectKind {
			return w.builder(w.class(e.typ.token, javaInputs, "Args"), e.fields, indent, path), true
		}
		var element *typeSpec
		if e.typ.kindOf() == mapKind {
			element = e.typ.element
		}
		return w.mapOf(e.fields, element, indent, path, outs), true
	case asset:
		return "new " + w.importClass("com.pulumi.asset."+e.constructor) + "(" + javaString(e.text) + ")", true
	case members:
		return "new " + w.importClass("com.pulumi.asset.AssetArchive") + "(" + w.mapOf(e.fields, nil, indent, path, outs) + ")", true
	case idOf:
		return outs.add(e.variable + ".id()"), true
	case setting:
		return w.setting(e, outs), true
	case secretly:
		outs.isSecret = true
		return w.value(e.value, declared, indent, path, outs)
	}
	return w.omit(path, "its value does not have the type in the schema")
}

func (w *javaWriter) literal(l literal, declared *typeSpec, path []string) (string, bool) {
	switch {
	case l.value.IsNull():
		return w.omit(path, "there is no value for it")
	case l.typ.kindOf() == enumKind:
		if enum := w.current.pkg.named(l.typ.token); enum != nil {
			if m, ok := enum.member(l.value); ok && javaMember(m) != "" {
				return w.class(l.typ.token, javaEnums, "") + "." + javaMember(m), true
			}
		}
		return w.omit(path, "the enum in the schema does not have its value")
	case l.value.IsString():
		return javaString(l.value.AsString()), true
	case l.value.IsBool():
		return strconv.FormatBool(l.value.AsBool()), true
	}
	f := l.value.AsNumber()
	whole := f == math.Trunc(f) && math.Abs(f) <= math.MaxInt32
	switch {
	case l.typ.kindOf() == integerKind && !whole:
		return w.omit(path, "SDKs for Java do not have integers of this size")
	case l.typ.kindOf() == integerKind, l.typ.kindOf() != numberKind && whole:
		return strconv.FormatFloat(f, 'f', -1, 64), true
	}
	text := number(f)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text, true
}

func (w *javaWriter) listOf(e list, indent string, path []string, outs *outputs) (string, bool) {
	var element *typeSpec
	if e.typ.kindOf() == arrayKind {
		element = e.typ.element
	}
	var items []string
	for i, item := range e.items {
		code, ok := w.value(item, element, indent+"    ", append(slices.Clone(path), strconv.Itoa(i)), outs)
		if !ok {
			continue
		}
		code, _ = w.either(code, element, typeOf(item))
		items = append(items, "\n"+indent+"    "+code)
	}
	return w.importClass("java.util.List") + ".of(" + strings.Join(items, ",") + ")", true
}

// mapOf formats a map. It leaves out members without a value.
func (w *javaWriter) mapOf(fs []field, element *typeSpec, indent string, path []string, outs *outputs) string {
	class := w.importClass("java.util.Map")
	var entries []string
	for _, f := range fs {
		code, ok := w.value(f.value, element, indent+"    ", append(slices.Clone(path), f.name), outs)
		if !ok {
			continue
		}
		code, _ = w.either(code, element, typeOf(f.value))
		entries = append(entries, "\n"+indent+"    "+class+".entry("+javaString(f.name)+", "+code+")")
	}
	if len(entries) == 0 {
		return class + ".of()"
	}
	return class + ".ofEntries(" + strings.Join(entries, ",") + ")"
}

var javaGetters = map[kind]string{
	stringKind: "requireSecret", boolKind: "requireSecretBoolean", integerKind: "requireSecretInteger", numberKind: "requireSecretDouble",
}

func (w *javaWriter) setting(e setting, outs *outputs) string {
	getter := javaGetters[e.typ.kindOf()]
	if e.isPlain {
		getter = strings.Replace(getter, "Secret", "", 1)
	}
	code := "config." + getter + "(" + javaString(e.key) + ")"
	member := func(value string) string {
		m := w.parameter("m")
		return w.importClass("java.util.Arrays") + ".stream(" + w.class(e.enum.token, javaEnums, "") + ".values()).filter(" + m + " -> " + m +
			".getValue().equals(" + value + ")).findFirst().orElseThrow()"
	}
	switch {
	case e.isPlain && e.enum == nil:
		return code
	case e.isPlain:
		return member(code)
	case e.enum != nil:
		v := w.parameter("v")
		code += ".applyValue(" + v + " -> " + member(v) + ")"
	}
	return outs.add(code)
}

// either wraps a value of a union of two types, which the SDK has as Either<L, R>. wrapped is false for other types.
func (w *javaWriter) either(code string, declared, actual *typeSpec) (wrapped string, ok bool) {
	sides := w.sides(declared)
	if len(sides) != 2 || actual == nil {
		return code, false
	}
	side := "ofLeft"
	if javaType(w.current.pkg, actual) != sides[0] {
		side = "ofRight"
	}
	return w.importClass("com.pulumi.core.Either") + "." + side + "(" + code + ")", true
}

// sides returns the different types of a union, in the order of the schema.
func (w *javaWriter) sides(t *typeSpec) []string {
	if t.kindOf() != unionKind {
		return nil
	}
	var out []string
	for _, m := range t.members {
		if text := javaType(w.current.pkg, m); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// isAmbiguous reports whether a builder cannot have methods for the two types of a union, because they differ only in their parameters.
func (w *javaWriter) isAmbiguous(t *typeSpec) bool {
	sides := w.sides(t)
	if len(sides) != 2 {
		return false
	}
	left, _, _ := strings.Cut(sides[0], "<")
	right, _, _ := strings.Cut(sides[1], "<")
	return left == right
}

// isObject reports whether the SDK has a type as Object.
func (w *javaWriter) isObject(t *typeSpec) bool {
	return t != nil && t.kind == anyKind || len(w.sides(t)) > 2
}

// javaType returns the text by which types are compared. It is not the name in a program.
func javaType(s *Schema, t *typeSpec) string {
	switch t.kindOf() {
	case boolKind:
		return "Boolean"
	case integerKind:
		return "Integer"
	case numberKind:
		return "Double"
	case stringKind:
		return "String"
	case assetKind:
		return "AssetOrArchive"
	case archiveKind:
		return "Archive"
	case arrayKind:
		return "List<" + javaType(s, t.element) + ">"
	case mapKind:
		return "Map<" + javaType(s, t.element) + ">"
	case objectKind, enumKind:
		return javaPackage(s, t.token, "") + "." + javaClass(t.token)
	case unionKind:
		return "Either"
	}
	return "Object"
}

// typeOf returns the type that a value has, or nil if it is not known.
func typeOf(e expression) *typeSpec {
	switch e := e.(type) {
	case literal:
		return e.typ
	case list:
		return e.typ
	case object:
		return e.typ
	case asset:
		if strings.HasSuffix(e.constructor, "Archive") {
			return &typeSpec{kind: archiveKind}
		}
		return &typeSpec{kind: assetKind}
	case members:
		return &typeSpec{kind: archiveKind}
	case idOf:
		return &typeSpec{kind: stringKind}
	case setting:
		if e.enum != nil {
			return e.enum
		}
		return e.typ
	case secretly:
		return typeOf(e.value)
	}
	return nil
}

// mostTogether is the number of outputs that one tuple has.
const mostTogether = 8

// lifted makes an output of a value in which marks stand for outputs.
func (w *javaWriter) lifted(code string, outs []string, indent string) string {
	name := "v"
	if len(outs) > 1 {
		name = "t"
	}
	name = w.parameter(name)
	output, access := w.tuple(outs, name, "\n"+indent+"    ")
	for i, text := range access {
		code = strings.ReplaceAll(code, mark(i), text)
	}
	return output + ".applyValue(" + name + " -> " + code + ")"
}

// tuple joins outputs into one, and returns how its value gives the values of each of them. More than fit into a tuple are joined into
// tuples of tuples.
func (w *javaWriter) tuple(outs []string, value, separator string) (output string, access []string) {
	if len(outs) == 1 {
		return outs[0], []string{value}
	}
	size := 1
	for size*mostTogether < len(outs) {
		size *= mostTogether
	}
	var parts []string
	for part := range slices.Chunk(outs, size) {
		joined, inside := w.tuple(part, fmt.Sprintf("%s.t%d", value, len(parts)+1), separator+"    ")
		parts, access = append(parts, joined), append(access, inside...)
	}
	return w.importClass("com.pulumi.core.Output") + ".tuple(" + separator + strings.Join(parts, ","+separator) + ")", access
}

// parameter returns an unused name for the parameter of a function. Functions may be inside of others.
func (w *javaWriter) parameter(name string) string {
	unused := name
	for i := 2; w.taken[unused]; i++ {
		unused = fmt.Sprintf("%s%d", name, i)
	}
	w.taken[unused] = true
	return unused
}
