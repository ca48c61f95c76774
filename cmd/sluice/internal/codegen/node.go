package codegen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/urn"
)

// nodeReserved are the words that cannot be variables of a TypeScript program, and the names that the generated code
// uses.
var nodeReserved = strings.Fields(`pulumi config arguments await break case catch class const continue debugger default delete
	do else enum eval export extends false finally for function if implements import in instanceof interface let new null
	package private protected public return static super switch this throw true try typeof undefined var void while with
	yield async of`)

// writeNode writes a TypeScript program.
func writeNode(doc *document) ([]byte, error) {
	w := &nodeWriter{}
	imports := map[string]string{"pulumi": "@pulumi/pulumi"}
	for _, d := range doc.resources {
		if !d.isLocal {
			imports[identifierOfPackage(d.pkg.Name)] = nodePackage(d.pkg)
		}
	}
	w.line("", `import * as pulumi from "@pulumi/pulumi";`)
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		if name != "pulumi" {
			w.line("", "import * as %s from %s;", name, quoted(imports[name]))
		}
	}
	w.line("", "")
	if len(doc.settings) > 0 {
		w.out.WriteString(settingsComment("//", doc.settings))
		w.line("", "const config = new pulumi.Config();")
	}
	for _, d := range doc.resources {
		w.resource(d)
	}
	return w.out.Bytes(), nil
}

// nodePackage returns the name of the npm package of a package.
func nodePackage(s *Schema) string {
	var info struct{ PackageName string }
	s.language("nodejs", &info)
	if info.PackageName != "" {
		return info.PackageName
	}
	namespace := s.Namespace
	if namespace == "" {
		namespace = "pulumi"
	}
	return "@" + namespace + "/" + s.Name
}

// nodeClass returns the class of a resource.
func nodeClass(s *Schema, t urn.Type) string {
	parts := []string{identifierOfPackage(s.Name)}
	if t.IsProvider() {
		return parts[0] + ".Provider"
	}
	var info struct{ ModuleToPackage map[string]string }
	s.language("nodejs", &info)
	module := s.module(t)
	if m, ok := info.ModuleToPackage[module]; ok {
		module = m
	}
	if module != "" && module != "index" {
		for part := range strings.SplitSeq(strings.ToLower(module), "/") {
			parts = append(parts, strings.ReplaceAll(part, "-", "_"))
		}
	}
	return strings.Join(append(parts, title(nameOfToken(t))), ".")
}

type nodeWriter struct{ out bytes.Buffer }

func (w *nodeWriter) line(indent, format string, args ...any) {
	fmt.Fprintf(&w.out, indent+format+"\n", args...)
}

func (w *nodeWriter) resource(d *declaration) {
	if len(d.notes) > 0 {
		w.out.WriteString(comment("//", d.notes) + "\n")
	}
	options := w.options(d)
	if options != "" {
		options = ", " + options
	}
	if d.isLocal {
		w.line("", "const %s = new pulumi.ComponentResource(%s, %s, {}%s);", d.variable, quoted(string(d.token)), quoted(d.name()), options)
		return
	}
	arguments := "{}"
	if len(d.properties) > 0 {
		arguments = w.fields(d.properties, "")
	} else if options == "" {
		w.line("", "const %s = new %s(%s);", d.variable, nodeClass(d.pkg, d.token), quoted(d.name()))
		return
	}
	w.line("", "const %s = new %s(%s, %s%s);", d.variable, nodeClass(d.pkg, d.token), quoted(d.name()), arguments, options)
}

func (w *nodeWriter) options(d *declaration) string {
	var lines []string
	if d.parent != "" {
		lines = append(lines, "    parent: "+d.parent+",\n")
	}
	if d.provider != "" {
		lines = append(lines, "    provider: "+d.provider+",\n")
	}
	if d.state.Protect {
		lines = append(lines, "    protect: true,\n")
	}
	if len(lines) == 0 {
		return ""
	}
	return "{\n" + strings.Join(lines, "") + "}"
}

var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`) })

func (w *nodeWriter) fields(fs []field, indent string) string {
	if len(fs) == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, f := range fs {
		key := f.name
		switch {
		case key == "__proto__": // it would set the prototype
			key = `["__proto__"]`
		case !plainKey().MatchString(key):
			key = quoted(key)
		}
		fmt.Fprintf(&b, "%s    %s: %s,\n", indent, key, w.value(f.value, indent+"    "))
	}
	b.WriteString(indent + "}")
	return b.String()
}

func (w *nodeWriter) value(e expression, indent string) string {
	switch e := e.(type) {
	case literal:
		switch {
		case e.value.IsString():
			return quoted(e.value.AsString())
		case e.value.IsBool():
			return fmt.Sprint(e.value.AsBool())
		case e.value.IsNumber():
			return number(e.value.AsNumber())
		}
		return "undefined as any"
	case list:
		if len(e.items) == 0 {
			return "[]"
		}
		var b strings.Builder
		b.WriteString("[\n")
		for _, item := range e.items {
			fmt.Fprintf(&b, "%s    %s,\n", indent, w.value(item, indent+"    "))
		}
		b.WriteString(indent + "]")
		return b.String()
	case object:
		return w.fields(e.fields, indent)
	case asset:
		return fmt.Sprintf("new pulumi.asset.%s(%s)", e.constructor, quoted(e.text))
	case members:
		return "new pulumi.asset.AssetArchive(" + w.fields(e.fields, indent) + ")"
	case idOf:
		return e.variable + ".id"
	case setting:
		getter := nodeGetters[e.typ.kindOf()]
		if e.isPlain {
			getter = strings.Replace(getter, "Secret", "", 1)
		}
		return "config." + getter + "(" + quoted(e.key) + ")"
	case secretly:
		return "pulumi.secret(" + w.value(e.value, indent) + ")"
	case mismatched:
		return w.value(e.value, indent) + " as any"
	}
	return "undefined as any"
}

var nodeGetters = map[kind]string{
	stringKind: "requireSecret", boolKind: "requireSecretBoolean", integerKind: "requireSecretNumber", numberKind: "requireSecretNumber",
}

// quoted returns a JSON string, which is also a JavaScript string.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // every string can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
