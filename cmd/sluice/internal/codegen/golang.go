package codegen

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/sluice-iac/sluice/urn"
)

// goReserved are the words that cannot be variables of a Go program, and the names that the generated code uses.
var goReserved = strings.Fields(`pulumi config ctx cfg err main break case chan const continue default defer else fallthrough
	for func go goto if import interface map package range return select struct switch type var any bool byte error false
	float64 int len make new nil string true _`)

const goSDK = "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// writeGo writes a Go program.
func writeGo(doc *document) ([]byte, error) {
	w := &goWriter{imports: map[string]string{goSDK: "pulumi"}, names: map[string]bool{}}
	for _, word := range goReserved {
		w.names[word] = true
	}
	for _, d := range doc.resources {
		w.names[d.variable] = true
	}
	var body bytes.Buffer
	declared := false
	for _, d := range doc.resources {
		declared = w.resource(&body, d, declared) || declared
	}
	var out bytes.Buffer
	out.WriteString("package main\n\nimport (\n")
	if len(doc.settings) > 0 {
		w.imports[goSDK+"/config"] = "config"
	}
	for _, p := range slices.Sorted(maps.Keys(w.imports)) {
		name := w.imports[p]
		if name == path.Base(p) {
			name = ""
		}
		fmt.Fprintf(&out, "%s %s\n", name, strconv.Quote(p))
	}
	out.WriteString(")\n\nfunc main() {\npulumi.Run(func(ctx *pulumi.Context) error {\n")
	if len(doc.settings) > 0 {
		out.WriteString(settingsComment("//", doc.settings) + "cfg := config.New(ctx, \"\")\n")
	}
	out.Write(body.Bytes())
	out.WriteString("return nil\n})\n}\n")
	text, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the generated Go program is malformed: %w", err)
	}
	return text, nil
}

type goWriter struct {
	imports map[string]string // path -> name
	names   map[string]bool
	pkg     *Schema // of the resource that is being written
}

// resource writes a declaration. It reports whether err is declared after it.
func (w *goWriter) resource(out *bytes.Buffer, d *declaration, errDeclared bool) bool {
	w.pkg = d.pkg
	if len(d.notes) > 0 {
		out.WriteString(comment("//", d.notes) + "\n")
	}
	assign := ":="
	if d.isLocal {
		if errDeclared {
			assign = "="
		}
		fmt.Fprintf(out, "%s := &pulumi.ResourceState{}\nerr %s ctx.RegisterComponentResource(%s, %s, %s%s)\n",
			d.variable, assign, strconv.Quote(string(d.token)), strconv.Quote(d.name()), d.variable, w.options(d))
	} else {
		variable := d.variable
		if !d.isUsed {
			variable = "_"
			if errDeclared {
				assign = "="
			}
		}
		where, name := w.qualifier(d.token), title(nameOfToken(d.token))
		if d.token.IsProvider() {
			name = "Provider"
		}
		arguments := "nil"
		if len(d.properties) > 0 {
			arguments = "&" + where + name + "Args" + w.structFields(d.properties)
		}
		fmt.Fprintf(out, "%s, err %s %sNew%s(ctx, %s, %s%s)\n", variable, assign, where, name, strconv.Quote(d.name()), arguments, w.options(d))
	}
	out.WriteString("if err != nil {\nreturn err\n}\n")
	return true
}

func (w *goWriter) options(d *declaration) string {
	var b strings.Builder
	if d.parent != "" {
		b.WriteString(", pulumi.Parent(" + d.parent + ")")
	}
	if d.provider != "" {
		b.WriteString(", pulumi.Provider(" + d.provider + ")")
	}
	if d.state.Protect {
		b.WriteString(", pulumi.Protect(true)")
	}
	return b.String()
}

// goInfo is the part of a schema about the Go SDK of its package.
type goInfo struct {
	ImportBasePath       string
	RootPackageName      string
	ImportPathPattern    string
	ModuleToPackage      map[string]string
	PackageImportAliases map[string]string
}

// basePath returns the import path of an SDK. If the schema has none, the path follows the usual convention.
func basePath(s *Schema, info goInfo) string {
	if info.ImportBasePath != "" {
		return info.ImportBasePath
	}
	base := "github.com/pulumi/pulumi-" + s.Name + "/sdk"
	if v, err := semver.NewVersion(s.Version); err == nil && v.Major() > 1 {
		base += fmt.Sprintf("/v%d", v.Major())
	}
	return base + "/go/" + s.Name
}

// qualifier imports the package in which a token is declared, and returns the prefix of its names: "s3.".
func (w *goWriter) qualifier(t urn.Type) string {
	var info goInfo
	w.pkg.language("go", &info)
	base := basePath(w.pkg, info)
	module := w.pkg.module(t)
	if m, ok := info.ModuleToPackage[module]; ok {
		module = m
	}
	module = strings.ToLower(module)
	full, name := base, info.RootPackageName
	if name == "" {
		name = path.Base(base)
	}
	if module != "" && module != "index" {
		name = path.Base(module)
		full = base + "/" + module
		if info.ImportPathPattern != "" {
			full = strings.NewReplacer("{module}", module, "{baseImportPath}", base).Replace(info.ImportPathPattern)
		}
	}
	if alias, ok := info.PackageImportAliases[full]; ok {
		name = alias
	}
	return w.importAs(full, name) + "."
}

// importAs imports a package under an unused name.
func (w *goWriter) importAs(full, name string) string {
	if have, ok := w.imports[full]; ok {
		return have
	}
	name = strings.ReplaceAll(identifier(name), "_", "")
	unused := name
	if w.names[unused] { // "core/v1" beside "apps/v1"
		unused = strings.ReplaceAll(identifier(path.Base(path.Dir(full))), "_", "") + name
	}
	for i := 2; w.names[unused]; i++ {
		unused = fmt.Sprintf("%s%d", name, i)
	}
	w.names[unused] = true
	w.imports[full] = unused
	return unused
}

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
		getter := goGetters[e.typ.kindOf()]
		if e.isPlain {
			getter = strings.Replace(getter, "Secret", "", 1)
		}
		return "cfg." + getter + "(" + strconv.Quote(e.key) + ")"
	case secretly:
		return w.secretly(e)
	case mismatched:
		return w.value(e.value)
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
	if s, ok := e.(setting); ok && optional {
		return map[kind]string{
			stringKind: "pulumi.StringRef(", boolKind: "pulumi.BoolRef(", integerKind: "pulumi.IntRef(", numberKind: "pulumi.Float64Ref(",
		}[s.typ.kindOf()] + w.value(e) + ")"
	}
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
