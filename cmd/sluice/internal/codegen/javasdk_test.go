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

// javaSDK writes the classes of a package as the generator of SDKs for Java does: the same overloads, but nothing that is only for programs to
// read. The names of packages, classes, methods and members are those of the writer.
type javaSDK struct {
	t      *testing.T
	schema *Schema
	dir    string // of the sources
}

func (g javaSDK) write() {
	for _, token := range g.schema.ResourceTypes() {
		g.resource(token)
	}
	if g.schema.provider != nil {
		g.resource(urn.Type("pulumi:providers:" + g.schema.Name))
	}
	for token := range g.schema.types {
		switch shape := g.schema.named(urn.Type(token)); {
		case shape == nil:
		case shape.isEnum:
			g.enum(shape)
		default:
			g.args(shape, javaInputs)
		}
	}
}

func (g javaSDK) file(pkg, class, text string) {
	dir := filepath.Join(append([]string{g.dir}, strings.Split(pkg, ".")...)...)
	require.NoError(g.t, os.MkdirAll(dir, 0o755))
	require.NoError(g.t, os.WriteFile(filepath.Join(dir, class+".java"), []byte("package "+pkg+";\n"+text), 0o644))
}

func (g javaSDK) resource(token urn.Type) {
	shape := g.schema.resource(token)
	if shape == nil {
		return
	}
	g.args(shape, "")
	base, name := "Custom", string(token)
	switch {
	case token.IsProvider():
		base, name = "Provider", g.schema.Name
	case strings.Contains(string(g.schema.resources[string(token)]), `"isComponent": true`):
		base = "Component"
	}
	options := "Custom"
	if base == "Component" {
		options = base
	}
	g.file(javaPackage(g.schema, token, ""), javaClass(token), fmt.Sprintf(`
@com.pulumi.core.annotations.ResourceType(type="%[4]s")
public class %[1]s extends com.pulumi.resources.%[2]sResource {
    public %[1]s(java.lang.String name) { this(name, %[1]sArgs.Empty); }
    public %[1]s(java.lang.String name, %[1]sArgs args) { this(name, args, null); }
    public %[1]s(java.lang.String name, %[1]sArgs args, com.pulumi.resources.%[3]sResourceOptions options) {
        super("%[5]s", name, args == null ? %[1]sArgs.Empty : args, options);
    }
}
`, javaClass(token), base, options, token, name))
}

func (g javaSDK) args(shape *shape, part string) {
	class := javaClass(shape.token) + "Args"
	var fields, setters strings.Builder
	for _, p := range shape.properties {
		name := javaIdentifier(p.name)
		typ := g.typ(p.typ)
		held := typ
		if !p.isPlain {
			held = "com.pulumi.core.Output<" + typ + ">"
		}
		extra := ""
		if shape.token.IsProvider() && p.typ.kindOf() != stringKind {
			extra = ", json=true"
		}
		fmt.Fprintf(&fields, "    @com.pulumi.core.annotations.Import(name=%s%s) private %s %s;\n", javaString(p.name), extra, held, name)
		setter := func(parameter, code string) {
			fmt.Fprintf(&setters, "        public Builder %s(%s %s) { %s return this; }\n", javaSetter(p.name), parameter, name, code)
		}
		setter(held, fmt.Sprintf("$.%s = %s;", name, name))
		call := func(value string) string { return fmt.Sprintf("this.%s(%s);", javaSetter(p.name), value) }
		if !p.isPlain {
			setter(typ, call("com.pulumi.core.Output.of("+name+")"))
		}
		if element, ok := strings.CutPrefix(typ, "java.util.List<"); ok {
			setter(strings.TrimSuffix(element, ">")+"...", call("java.util.List.of("+name+")"))
		}
		if sides := g.sides(p.typ); len(sides) == 2 {
			left, _, _ := strings.Cut(sides[0], "<")
			right, _, _ := strings.Cut(sides[1], "<")
			if left != right {
				setter(sides[0], call("com.pulumi.core.Either.<"+strings.Join(sides, ", ")+">ofLeft("+name+")"))
				setter(sides[1], call("com.pulumi.core.Either.<"+strings.Join(sides, ", ")+">ofRight("+name+")"))
			}
		}
	}
	g.file(javaPackage(g.schema, shape.token, part), class, fmt.Sprintf(`
public final class %[1]s extends com.pulumi.resources.ResourceArgs {
    public static final %[1]s Empty = new %[1]s();
%[2]s
    public static Builder builder() { return new Builder(); }
    public static final class Builder {
        private %[1]s $ = new %[1]s();
%[3]s
        public %[1]s build() { return $; }
    }
}
`, class, fields.String(), setters.String()))
}

func (g javaSDK) enum(shape *shape) {
	var members []string
	for _, m := range shape.members {
		value := literal{m.value, shape.base}
		code, _ := (&javaWriter{}).literal(value, nil, nil)
		members = append(members, fmt.Sprintf("%s(%s)", javaMember(m), code))
	}
	class, typ := javaClass(shape.token), g.typ(shape.base)
	g.file(javaPackage(g.schema, shape.token, javaEnums), class, fmt.Sprintf(`
@com.pulumi.core.annotations.EnumType
public enum %[1]s {
    %[2]s;
    private final %[3]s value;
    %[1]s(%[3]s value) { this.value = value; }
    @com.pulumi.core.annotations.EnumType.Converter
    public %[3]s getValue() { return this.value; }
}
`, class, strings.Join(members, ", "), typ))
}

// sides returns the different types of a union.
func (g javaSDK) sides(t *typeSpec) []string {
	if t.kindOf() != unionKind {
		return nil
	}
	var out []string
	for _, m := range t.members {
		if typ := g.typ(m); !slices.Contains(out, typ) {
			out = append(out, typ)
		}
	}
	return out
}

func (g javaSDK) typ(t *typeSpec) string {
	switch t.kindOf() {
	case boolKind:
		return "java.lang.Boolean"
	case integerKind:
		return "java.lang.Integer"
	case numberKind:
		return "java.lang.Double"
	case stringKind:
		return "java.lang.String"
	case assetKind:
		return "com.pulumi.asset.AssetOrArchive"
	case archiveKind:
		return "com.pulumi.asset.Archive"
	case arrayKind:
		return "java.util.List<" + g.typ(t.element) + ">"
	case mapKind:
		return "java.util.Map<java.lang.String, " + g.typ(t.element) + ">"
	case objectKind:
		return javaPackage(g.schema, t.token, javaInputs) + "." + javaClass(t.token) + "Args"
	case enumKind:
		return javaPackage(g.schema, t.token, javaEnums) + "." + javaClass(t.token)
	case unionKind:
		switch sides := g.sides(t); len(sides) {
		case 1:
			return sides[0]
		case 2:
			return "com.pulumi.core.Either<" + strings.Join(sides, ", ") + ">"
		}
	}
	return "java.lang.Object"
}
