package nativetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/native"
)

// RequireDeclared requires that p and the npm package declare the same resources, functions and properties, with the same
// names, the same types, and the same properties required. modules is the folder whose node_modules has the package.
// without lists the declared types and functions that p omits on purpose.
func RequireDeclared(t *testing.T, p native.Package, modules, npm string, without ...string) {
	t.Helper()
	d := declarations{t: t, text: readDeclarations(t, filepath.Join(modules, "node_modules", filepath.FromSlash(npm)))}
	var tokens []string
	for _, r := range p.Resources {
		tokens = append(tokens, string(r.Type))
		name := lastPart(string(r.Type))
		all := append(r.Inputs[:len(r.Inputs):len(r.Inputs)], r.Computed...)
		require.Equal(t, expected(all, true), d.class(string(r.Type)), "outputs of %s", r.Type)
		require.Equal(t, expected(r.Inputs, false), d.inFile(string(r.Type), name+"Args"), "inputs of %s", r.Type)
		d.records(r.Inputs)
		d.records(all)
	}
	for _, f := range p.Functions {
		tokens = append(tokens, f.Token)
		name := strings.ToUpper(lastPart(f.Token)[:1]) + lastPart(f.Token)[1:]
		require.Equal(t, expected(f.Inputs, false), d.inFile(f.Token, name+"Args"), "arguments of %s", f.Token)
		require.Equal(t, expected(f.Outputs, true), d.inFile(f.Token, name+"Result"), "result of %s", f.Token)
		d.records(f.Outputs)
	}
	slices.Sort(tokens)
	require.Equal(t, d.tokens(p.Name, without), tokens)
}

type declarations struct {
	t    *testing.T
	text map[string]string // path without its ending -> declarations or code
}

func readDeclarations(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".d.ts") && !strings.HasSuffix(path, ".js") {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/")] = withoutComments(string(text))
		return err
	}))
	return out
}

func withoutComments(text string) string {
	return regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:^\s*//.*$)`).ReplaceAllString(text, "")
}

func lastPart(token string) string { return token[strings.LastIndex(token, ":")+1:] }

// tokens lists the tokens that the package's code registers and invokes.
func (d declarations) tokens(pkg string, without []string) []string {
	found := regexp.MustCompile(`(?:__pulumiType = ['"]|\.invoke\(['"])(` + pkg + `:[^'"]+)['"]`)
	var out []string
	for path, text := range d.text {
		if !strings.HasSuffix(path, ".js") {
			continue
		}
		for _, m := range found.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(out, m[1]) && !slices.Contains(without, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	slices.Sort(out)
	return out
}

// file returns the declarations of the file whose code registers the token.
func (d declarations) file(token string) string {
	registers := regexp.MustCompile(`(?:__pulumiType = ['"]|\.invoke\(['"])` + regexp.QuoteMeta(token) + `['"]`)
	for path, text := range d.text {
		if strings.HasSuffix(path, ".js") && registers.MatchString(text) {
			return d.text[strings.TrimSuffix(path, ".js")+".d.ts"]
		}
	}
	require.Fail(d.t, "the npm package has no "+token)
	return ""
}

// class returns the properties of a resource's class: name, "?" if it may be missing, type.
func (d declarations) class(token string) []string {
	var out []string
	property := regexp.MustCompile(`(?s)readonly (\w+)!?: pulumi\.Output<(.*?)>;`)
	body := d.block(d.file(token), "declare class "+lastPart(token))
	for _, m := range property.FindAllStringSubmatch(body, -1) {
		out = append(out, declared(m[1], false, m[2]))
	}
	slices.Sort(out)
	return out
}

func (d declarations) inFile(token, name string) []string {
	return d.members(d.block(d.file(token), "interface "+name))
}

// block returns the text between the braces after an introduction, "" if there is none.
func (d declarations) block(text, introduction string) string {
	at := regexp.MustCompile(regexp.QuoteMeta(introduction) + `\b`).FindStringIndex(text)
	if at == nil {
		return ""
	}
	text = text[at[1]:]
	text = text[strings.Index(text, "{")+1:]
	depth := 1
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return text[:i]
		}
	}
	return text
}

// members returns the members of an interface; a type in braces ends with its brace's line.
func (d declarations) members(body string) []string {
	var out []string
	for _, statement := range splitStatements(body) {
		m := regexp.MustCompile(`(?s)^(?:readonly )?(\w+)(\??): (.*)$`).FindStringSubmatch(strings.TrimSpace(statement))
		if m != nil {
			out = append(out, declared(m[1], m[2] == "?", m[3]))
		}
	}
	slices.Sort(out)
	return out
}

func splitStatements(body string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range body {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ';' && depth == 0:
			out = append(out, body[from:i])
			from = i + 1
		}
	}
	return out
}

// records compares the named types of fields, as inputs and outputs.
func (d declarations) records(fields []native.Field) {
	for _, f := range fields {
		t := f.Type
		for t.Elem != nil {
			t = *t.Elem
		}
		if t.Kind != native.KindRecord {
			continue
		}
		name := recordName(t.Token)
		body := d.block(d.text["types/output.d.ts"], "interface "+name)
		require.Equal(d.t, expected(t.Fields, false), d.members(body), "type %s", name)
		d.records(t.Fields)
	}
}

func recordName(token string) string {
	name := lastPart(token)
	return strings.ToUpper(name[:1]) + name[1:]
}

// declared writes a declaration in the form in which declarations are compared.
func declared(name string, optional bool, typ string) string {
	typ = regexp.MustCompile(`\s|;`).ReplaceAllString(typ, "")
	typ = regexp.MustCompile(`\b(?:outputs|inputs|enums)(?:\.\w+)*\.(\w+?)(?:Args)?\b`).ReplaceAllString(typ, "$1")
	for strings.Contains(typ, "pulumi.Input<") {
		typ = unwrapInput(typ)
	}
	typ = strings.ReplaceAll(typ, "pulumi.asset.Asset|pulumi.asset.Archive", "Asset")
	typ = strings.ReplaceAll(typ, "pulumi.asset.Archive", "Archive")
	if rest, ok := strings.CutSuffix(typ, "|undefined"); ok {
		typ, optional = rest, true
	}
	if optional {
		name += "?"
	}
	return name + ": " + typ
}

// unwrapInput removes one pulumi.Input<…>, with a "|undefined" at its end.
func unwrapInput(typ string) string {
	const wrapper = "pulumi.Input<"
	start := strings.LastIndex(typ, wrapper)
	rest := typ[start+len(wrapper):]
	end := strings.Index(rest, ">")
	return typ[:start] + rest[:end] + rest[end+1:]
}

// expected writes fields in the form of the declarations of outputs or of inputs.
func expected(fields []native.Field, outputs bool) []string {
	var out []string
	for _, f := range fields {
		there := f.Required || outputs && (f.Output == native.Chosen || !f.Default.IsNull())
		out = append(out, declared(f.Name, !there, script(f.Type)))
	}
	slices.Sort(out)
	return out
}

// script writes a type in TypeScript.
func script(t native.Type) string {
	switch t.Kind {
	case native.KindInteger, native.KindNumber:
		return "number"
	case native.KindArray:
		return script(*t.Elem) + "[]"
	case native.KindMap:
		return "{[key:string]:" + script(*t.Elem) + "}"
	case native.KindRecord:
		return recordName(t.Token)
	case native.KindAsset:
		return "Asset"
	case native.KindArchive:
		return "Archive"
	}
	if t.Token != "" {
		return recordName(t.Token)
	}
	return string(t.Kind)
}
