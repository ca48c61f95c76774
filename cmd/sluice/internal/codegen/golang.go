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
)

// goReserved are the words that cannot be variables of a Go program, and the names that ours uses.
var goReserved = strings.Fields(`pulumi config ctx cfg err main break case chan const continue default defer else fallthrough
	for func go goto if import interface map package range return select struct switch type var any bool byte error false
	float64 int len make new nil string true _`)

const goSDK = "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// writeGo writes a Go program.
func writeGo(doc *document) ([]byte, error) {
	used := &goImports{imports: map[string]string{goSDK: "pulumi"}, names: map[string]bool{"pulumi": true, "config": true}}
	for _, d := range doc.resources {
		used.names[d.variable] = true
	}
	var body bytes.Buffer
	declared := false
	for _, d := range doc.resources {
		declared = writeGoResource(&body, used, d, declared) || declared
	}
	var out bytes.Buffer
	out.WriteString("package main\n\nimport (\n")
	if len(doc.settings) > 0 {
		used.imports[goSDK+"/config"] = "config"
	}
	for _, p := range slices.Sorted(maps.Keys(used.imports)) {
		name := used.imports[p]
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

// writeGoResource writes a declaration. It returns whether err exists now.
func writeGoResource(out *bytes.Buffer, used *goImports, d *declaration, errDeclared bool) bool {
	w := &goWriter{used, d.pkg}
	if len(d.notes) > 0 {
		out.WriteString(comment("//", d.notes) + "\n")
	}
	assign := ":="
	if d.isLocal {
		if errDeclared {
			assign = "="
		}
		fmt.Fprintf(out, "%s := &pulumi.ResourceState{}\nerr %s ctx.RegisterComponentResource(%s, %s, %s%s)\n",
			d.variable, assign, strconv.Quote(string(d.token)), strconv.Quote(d.name()), d.variable, goOptions(d))
	} else {
		variable := d.variable
		if !d.isUsed {
			variable = "_"
			if errDeclared {
				assign = "="
			}
		}
		where, name := used.qualifier(d.pkg, d.token), title(nameOfToken(d.token))
		if d.token.IsProvider() {
			name = "Provider"
		}
		arguments := "nil"
		if len(d.properties) > 0 {
			arguments = "&" + where + name + "Args" + w.structFields(d.properties)
		}
		fmt.Fprintf(out, "%s, err %s %sNew%s(ctx, %s, %s%s)\n", variable, assign, where, name, strconv.Quote(d.name()), arguments, goOptions(d))
	}
	out.WriteString("if err != nil {\nreturn err\n}\n")
	return true
}

func goOptions(d *declaration) string {
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
