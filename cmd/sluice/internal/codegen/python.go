package codegen

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/sluice-iac/sluice/urn"
)

// pythonKeywords are the words that SDKs do not use as names of parameters and modules. They include those of Python 2.
var pythonKeywords = strings.Fields(`False None True and as assert async await break class continue def del elif else except exec
	finally for from global if import in is lambda nonlocal not or pass print raise return try while with yield`)

// pythonReserved are the words that cannot be variables of a Python program, and the names that the generated code uses.
var pythonReserved = append([]string{"pulumi", "config", "typing"}, pythonKeywords...)

// writePython writes a Python program.
func writePython(doc *document) ([]byte, error) {
	w := &pythonWriter{}
	imports := map[string]string{} // module -> name
	var body bytes.Buffer
	for _, d := range doc.resources {
		if !d.isLocal && d.pkg.Name != "pulumi" {
			imports[pythonPackage(d.pkg)] = pythonImportName(d.pkg.Name)
		}
		w.resource(&body, d)
	}
	var out bytes.Buffer
	if w.usesTyping {
		out.WriteString("import typing\n\n")
	}
	out.WriteString("import pulumi\n")
	for _, module := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&out, "import %s as %s\n", module, imports[module])
	}
	out.WriteString("\n")
	if len(doc.settings) > 0 {
		out.WriteString(settingsComment("#", doc.settings) + "config = pulumi.Config()\n")
	}
	out.Write(body.Bytes())
	return out.Bytes(), nil
}

// pythonInfo is the part of a schema about the Python SDK of its package.
type pythonInfo struct {
	PackageName         string
	ModuleNameOverrides map[string]string
}

// pythonPackage returns the module of the SDK of a package.
func pythonPackage(s *Schema) string {
	var info pythonInfo
	s.language("python", &info)
	name := info.PackageName
	if name == "" {
		namespace := s.Namespace
		if namespace == "" {
			namespace = "pulumi"
		}
		name = namespace + "_" + s.Name
	}
	return strings.ReplaceAll(name, "-", "_")
}

// pythonImportName returns the name under which a program imports a package.
func pythonImportName(pkg string) string {
	name := identifierOfPackage(pkg)
	if slices.Contains(pythonReserved, name) && name != "pulumi" {
		name += "_"
	}
	return name
}

func pythonImportNames(pkg string) []string { return []string{pythonImportName(pkg)} }

// pythonVariable makes a snake-case variable from a name: "my-bucket.v2" becomes my_bucket_v2. It keeps a name that is an identifier.
func pythonVariable(name string) string {
	if plainName().MatchString(name) && name != "_" {
		return name
	}
	return pythonName(identifier(name))
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// oldPythonNames are names that SDKs have published with a spelling that does not follow the rule.
var oldPythonNames = map[string]string{"openXJsonSerDe": "open_x_json_ser_de"}

// pythonName converts a camel-case name as the generators of SDKs do: instanceID becomes instance_id, publicIPs public_ips, and SHA256Hash
// sha256_hash. A keyword gets an underscore at its end.
func pythonName(name string) string {
	if old, ok := oldPythonNames[name]; ok {
		return old
	}
	letters := []rune(name)
	for i, r := range letters {
		if !isPythonPart(r) {
			letters[i] = '_'
		}
	}
	var b strings.Builder
	upper := 0 // the number of capital letters just before; the first letter of the name counts if it is a capital
	for i, r := range letters {
		switch {
		case unicode.IsUpper(r):
			if upper == 0 && i > 0 {
				b.WriteByte('_')
			}
			upper++
			r = unicode.ToLower(r)
		case upper > 1 && !unicode.IsDigit(r) && r != 's':
			// The last capital letter begins a word.
			text := []rune(b.String())
			last := text[len(text)-1]
			b.Reset()
			b.WriteString(string(text[:len(text)-1]))
			b.WriteString("_" + string(last))
			upper = 0
		default:
			upper = 0
		}
		if i == 0 && !isPythonStart(r) {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return pythonSafe(b.String())
}

// pythonSafe adds an underscore to a keyword.
func pythonSafe(name string) string {
	if slices.Contains(pythonKeywords, name) {
		return name + "_"
	}
	return name
}

func isPythonStart(r rune) bool {
	return r == '_' || unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.Nl)
}

func isPythonPart(r rune) bool {
	return isPythonStart(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)
}

// pythonParameter returns the parameter of a resource for a property.
func pythonParameter(property string) string {
	name := pythonName(property)
	if name == "resource_name" || name == "opts" {
		return name + "_" // every resource has these
	}
	return name
}

// pythonClass returns the class for a token, with the module that declares it: "aws.s3.Bucket".
func pythonClass(s *Schema, t urn.Type) string {
	parts := []string{pythonImportName(s.Name)}
	if t.IsProvider() {
		return parts[0] + ".Provider"
	}
	var info pythonInfo
	s.language("python", &info)
	module := s.module(t)
	override, ok := info.ModuleNameOverrides[module]
	if ok {
		module = override
	} else {
		module = strings.ToLower(module)
	}
	if module != "" {
		for part := range strings.SplitSeq(module, "/") {
			if !ok {
				part = pythonName(part)
			}
			parts = append(parts, part)
		}
	}
	return strings.Join(append(parts, pythonSafe(title(nameOfToken(t)))), ".")
}

type pythonWriter struct {
	pkg        *Schema // of the resource that is being written
	usesTyping bool
}

func (w *pythonWriter) resource(out *bytes.Buffer, d *declaration) {
	w.pkg = d.pkg
	if len(d.notes) > 0 {
		out.WriteString(comment("#", d.notes) + "\n")
	}
	class, names := pythonClass(d.pkg, d.token), pythonString(d.name())
	if d.isLocal {
		class, names = "pulumi.ComponentResource", pythonString(string(d.token))+", "+names
	}
	spell := pythonParameter
	if d.token == "pulumi:pulumi:StackReference" {
		spell = func(string) string { return "stack_name" } // its only property is the name of the stack
	}
	arguments := w.arguments(d.properties, spell, "")
	if options := w.options(d); options != "" {
		arguments = append(arguments, "opts="+options)
	}
	fmt.Fprintf(out, "%s = %s(%s", d.variable, class, names)
	for _, argument := range arguments {
		out.WriteString(",\n    " + argument)
	}
	out.WriteString(")\n")
}

func (w *pythonWriter) options(d *declaration) string {
	var options []string
	if d.parent != "" {
		options = append(options, "parent="+d.parent)
	}
	if d.provider != "" {
		options = append(options, "provider="+d.provider)
	}
	if d.state.Protect {
		options = append(options, "protect=True")
	}
	if len(options) == 0 {
		return ""
	}
	return "pulumi.ResourceOptions(" + strings.Join(options, ", ") + ")"
}

// arguments formats the fields as keyword arguments. They are shown one level deeper than indent.
func (w *pythonWriter) arguments(fs []field, spell func(string) string, indent string) []string {
	var out []string
	for _, f := range fs {
		out = append(out, spell(f.name)+"="+w.value(f.value, indent+"    "))
	}
	return out
}

func (w *pythonWriter) value(e expression, indent string) string {
	switch e := e.(type) {
	case literal:
		return w.literal(e)
	case list:
		var items []string
		for _, item := range e.items {
			items = append(items, w.value(item, indent+"    "))
		}
		return pythonBlock("[", items, "]", indent)
	case object:
		if e.typ.kindOf() == objectKind {
			return pythonBlock(pythonClass(w.pkg, e.typ.token)+"Args(", w.arguments(e.fields, pythonName, indent), ")", indent)
		}
		return w.mapping(e.fields, indent)
	case asset:
		return "pulumi." + e.constructor + "(" + pythonString(e.text) + ")"
	case members:
		return "pulumi.AssetArchive(" + w.mapping(e.fields, indent) + ")"
	case idOf:
		return e.variable + ".id"
	case setting:
		return w.setting(e)
	case secretly:
		return "pulumi.Output.secret(" + w.value(e.value, indent) + ")"
	case mismatched:
		return w.untyped(w.value(e.value, indent))
	}
	return w.untyped("None")
}

// untyped hides the type of a value from type checkers.
func (w *pythonWriter) untyped(value string) string {
	w.usesTyping = true
	return "typing.cast(typing.Any, " + value + ")"
}

// mapping formats a dictionary.
func (w *pythonWriter) mapping(fs []field, indent string) string {
	var entries []string
	for _, f := range fs {
		entries = append(entries, pythonString(f.name)+": "+w.value(f.value, indent+"    "))
	}
	return pythonBlock("{", entries, "}", indent)
}

// pythonBlock formats items one a line.
func pythonBlock(begin string, items []string, end, indent string) string {
	if len(items) == 0 {
		return begin + end
	}
	var b strings.Builder
	b.WriteString(begin + "\n")
	for _, item := range items {
		b.WriteString(indent + "    " + item + ",\n")
	}
	b.WriteString(indent + end)
	return b.String()
}

func (w *pythonWriter) setting(e setting) string {
	getter := pythonGetters[e.typ.kindOf()]
	if e.isPlain {
		getter = strings.Replace(getter, "_secret", "", 1)
	}
	text := "config." + getter + "(" + pythonString(e.key) + ")"
	switch {
	case e.enum == nil:
		return text
	case e.isPlain:
		return pythonClass(w.pkg, e.enum.token) + "(" + text + ")"
	}
	return text + ".apply(" + pythonClass(w.pkg, e.enum.token) + ")"
}

var pythonGetters = map[kind]string{
	stringKind: "require_secret", boolKind: "require_secret_bool", integerKind: "require_secret_int", numberKind: "require_secret_float",
}

func (w *pythonWriter) literal(l literal) string {
	text := ""
	switch {
	case l.value.IsString():
		text = pythonString(l.value.AsString())
	case l.value.IsBool():
		text = title(strconv.FormatBool(l.value.AsBool()))
	case l.value.IsNumber() && l.typ.kindOf() == integerKind:
		text = strconv.FormatFloat(l.value.AsNumber(), 'f', -1, 64)
	case l.value.IsNumber():
		text = number(l.value.AsNumber())
	default:
		return w.untyped("None")
	}
	if l.typ.kindOf() != enumKind {
		return text
	}
	if w.pkg.isOutside(l.typ, l.value) {
		return w.untyped(text) // the class has no such member
	}
	return pythonClass(w.pkg, l.typ.token) + "(" + text + ")"
}

// pythonString returns a JSON string, which is also a Python string.
func pythonString(s string) string { return quoted(s) }
