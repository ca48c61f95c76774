package codegen

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/urn"
)

// pythonStubs writes the stubs of a package with the types that the generator of SDKs for Python gives to parameters. The names of modules,
// classes and parameters are those of the writer.
type pythonStubs struct {
	t      *testing.T
	schema *Schema
	dir    string
}

func (g pythonStubs) write() {
	modules := map[string]string{} // "" is the package itself
	add := func(token urn.Type, text string) {
		class := strings.Split(pythonClass(g.schema, token), ".")
		modules[strings.Join(class[1:len(class)-1], ".")] += text
	}
	tokens := g.schema.ResourceTypes()
	if g.schema.provider != nil {
		tokens = append(tokens, urn.Type("pulumi:providers:"+g.schema.Name))
	}
	for _, token := range tokens {
		base := "Custom"
		switch {
		case token.IsProvider():
			base = "Provider"
		case strings.Contains(string(g.schema.resources[string(token)]), `"isComponent": true`):
			base = "Component"
		}
		parameters := "resource_name: str, opts: Optional[pulumi.ResourceOptions] = ..." + g.parameters(g.schema.resource(token), pythonParameter, false)
		add(token, fmt.Sprintf("class %s(pulumi.%sResource):\n    def __init__(self, %s) -> None: ...\n", g.class(token), base, parameters))
	}
	for token := range g.schema.types {
		shape := g.schema.named(urn.Type(token))
		if !shape.isEnum {
			parameters := g.parameters(shape, pythonName, true)
			add(shape.token, fmt.Sprintf("class %sArgs:\n    def __init__(self, *%s) -> None: ...\n", g.class(shape.token), parameters))
			continue
		}
		text := fmt.Sprintf("class %s(%s, enum.Enum):\n", g.class(shape.token), g.typ(shape.base))
		for i, m := range shape.members {
			text += fmt.Sprintf("    MEMBER%d = %s\n", i, (&pythonWriter{}).literal(literal{m.value, shape.base}))
		}
		add(shape.token, text)
	}
	root := filepath.Join(g.dir, pythonPackage(g.schema))
	require.NoError(g.t, os.MkdirAll(root, 0o755))
	imports := ""
	for module, text := range modules {
		if module == "" {
			continue
		}
		imports += "from . import " + module + " as " + module + "\n"
		g.file(filepath.Join(root, module+".pyi"), text)
	}
	g.file(filepath.Join(root, "__init__.pyi"), imports+modules[""])
}

func (g pythonStubs) file(path, text string) {
	head := "import enum\nfrom typing import Any, Literal, Mapping, Optional, Sequence, Union\nimport pulumi\nimport " + pythonPackage(g.schema) + "\n"
	require.NoError(g.t, os.WriteFile(path, []byte(head+text), 0o644))
}

func (g pythonStubs) class(t urn.Type) string {
	parts := strings.Split(pythonClass(g.schema, t), ".")
	return parts[len(parts)-1]
}

// parameters returns the parameters for the properties of a shape, each with a comma before it.
func (g pythonStubs) parameters(shape *shape, spell func(string) string, required bool) string {
	var out strings.Builder
	for _, p := range shape.properties {
		typ := g.typ(p.typ)
		if len(p.constant) > 0 {
			typ = "Literal[" + string(p.constant) + "]"
		}
		optional := !p.isRequired || !required
		if optional {
			typ = "Optional[" + typ + "]"
		}
		if !p.isPlain {
			typ = "pulumi.Input[" + typ + "]"
		}
		fmt.Fprintf(&out, ", %s: %s", spell(p.name), typ)
		if optional {
			out.WriteString(" = ...")
		}
	}
	return out.String()
}

func (g pythonStubs) typ(t *typeSpec) string {
	switch t.kindOf() {
	case boolKind:
		return "bool"
	case integerKind:
		return "int"
	case numberKind:
		return "float"
	case stringKind:
		return "str"
	case arrayKind:
		return "Sequence[pulumi.Input[" + g.typ(t.element) + "]]"
	case mapKind:
		return "Mapping[str, pulumi.Input[" + g.typ(t.element) + "]]"
	case objectKind, enumKind:
		name := pythonPackage(g.schema) + strings.TrimPrefix(pythonClass(g.schema, t.token), pythonImportName(g.schema.Name))
		if t.kind == objectKind {
			name += "Args"
		}
		return name
	case assetKind:
		return "Union[pulumi.Asset, pulumi.Archive]"
	case archiveKind:
		return "pulumi.Archive"
	case unionKind:
		var members []string
		for _, m := range t.members {
			if text := g.typ(m); !slices.Contains(members, text) {
				members = append(members, text)
			}
		}
		return "Union[" + strings.Join(members, ", ") + "]"
	}
	if t != nil && t.isForeign {
		return "pulumi.Resource" // nothing that is written has it
	}
	return "Any"
}
