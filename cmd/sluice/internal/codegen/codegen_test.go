package codegen

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const secretText = "s3cr3t"

func urnOf(t urn.Type, name string) urn.URN { return urn.New("dev", "p", "", t, name) }

func mapOf(pairs ...any) property.Map {
	m := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = valueOf(pairs[i+1])
	}
	return property.NewMap(m)
}

func valueOf(v any) property.Value {
	switch v := v.(type) {
	case property.Value:
		return v
	case property.Map:
		return property.Of(v)
	case string:
		return property.String(v)
	case bool:
		return property.Bool(v)
	case int:
		return property.Number(float64(v))
	case float64:
		return property.Number(v)
	case []any:
		var out []property.Value
		for _, e := range v {
			out = append(out, valueOf(e))
		}
		return property.ArrayOf(out...)
	}
	panic("no such value")
}

var (
	explicit    = urnOf("pulumi:providers:cloud", "explicit")
	explicitRef = urn.ProviderRef{URN: explicit, ID: "id"}.String()
	defaultRef  = urn.ProviderRef{URN: urnOf("pulumi:providers:cloud", "default_6_1_0"), ID: "id"}.String()
)

func resource(t urn.Type, name, id string, inputs property.Map, with ...func(*state.Resource)) *state.Resource {
	r := &state.Resource{
		URN: urnOf(t, name), Type: t, Custom: true, ID: id, Inputs: inputs, Provider: defaultRef, Parent: urn.RootStack("dev", "p"),
	}
	for _, o := range with {
		o(r)
	}
	return r
}

// everything returns a program with every kind of value and of option.
func everything(t *testing.T) Program {
	t.Helper()
	text, err := os.ReadFile("testdata/schema.json")
	require.NoError(t, err)
	schema, err := ParseSchema(string(text))
	require.NoError(t, err)

	group := resource("my:local:Group", "group", "", property.Map{}, func(r *state.Resource) { r.Custom, r.Provider = false, "" })
	bucket := resource("cloud:store/bucket:Bucket", "my-logs", "logs-4711", mapOf(
		"bucket", "logs ${not.a.reference} \"quoted\" \\ `\n\u2028 ünïcode",
		"tags", mapOf("plain", "x", "needs quotes", "y", "__proto__", "z"),
		"rules", []any{mapOf("days", 3, "prefix", "a/", "unheard", true), mapOf("days", 4, "weight", 0.5, "next", mapOf("days", 5))},
		"tier", "hot",
		"limits", mapOf("a", []any{1, 2.5}),
		"content", property.MemberArchive(property.NewMap(map[string]property.Value{
			"a.txt": property.TextAsset("text"), "dir": property.PathArchive("./dir"), "web": property.URIAsset("https://example.com/x"),
		})),
		"source", "./file.txt",
		"password", property.Secret(property.String(secretText)),
		"pin", 1234,
		"document", property.Secret(property.Of(mapOf("open", mapOf("deep", secretText, "yes", true), "list", []any{secretText, 7}))),
		"forgotten", 1,
	), func(r *state.Resource) { r.Protect, r.Parent = true, group.URN })
	return Program{
		Names:   map[urn.URN]string{explicit: "explicit", group.URN: "group", bucket.URN: "class"},
		Schemas: map[string]*Schema{defaultRef: schema, explicitRef: schema},
		Resources: []*state.Resource{
			resource("cloud:store/object:Object", "first object", "o1", mapOf("bucket", "logs-4711", "key", "o1")),
			bucket, group,
			resource("cloud:net/check:Check", "check", "c1", mapOf("probe", mapOf("kind", "tcp", "port", 80), "timeout", 5, "name", "n"),
				func(r *state.Resource) { r.Provider = explicitRef }),
			resource("cloud:index:Zone", "zone", "hot", property.Map{}),
			resource("pulumi:providers:cloud", "explicit", "id", mapOf("region", "r", "version", "6.1.0", "token", secretText),
				func(r *state.Resource) { r.Provider = "" }),
		},
	}
}

func TestDeclarationsOfEveryKindOfValue(t *testing.T) {
	for runtime, file := range map[string]string{"yaml": "everything.yaml", "nodejs": "everything.ts", "go": "everything.go.txt", "python": "everything.py", "java": "everything.java"} {
		t.Run(runtime, func(t *testing.T) {
			got, err := Generate(runtime, everything(t))
			require.NoError(t, err)
			require.NotContains(t, string(got), secretText)
			golden(t, file, got)
		})
	}
}

func TestSecretsAreWrittenOutWhenAskedFor(t *testing.T) {
	for runtime, file := range map[string]string{"yaml": "secrets.yaml", "nodejs": "secrets.ts", "go": "secrets.go.txt", "python": "secrets.py", "java": "secrets.java"} {
		t.Run(runtime, func(t *testing.T) {
			p := everything(t)
			p.Resources = p.Resources[1:3]
			p.ShowSecrets = true
			got, err := Generate(runtime, p)
			require.NoError(t, err)
			require.Contains(t, string(got), secretText)
			golden(t, file, got)
		})
	}
}

func TestDeclarationsWithoutASchema(t *testing.T) {
	for runtime, file := range map[string]string{"yaml": "unknown.yaml", "nodejs": "unknown.ts", "go": "unknown.go.txt", "python": "unknown.py", "java": "unknown.java"} {
		t.Run(runtime, func(t *testing.T) {
			p := everything(t)
			p.Schemas = nil
			p.Resources = p.Resources[:5] // only a schema makes the token of the provider secret
			got, err := Generate(runtime, p)
			require.NoError(t, err)
			require.NotContains(t, string(got), secretText, "what the state marks as secret is secret without a schema too")
			golden(t, file, got)
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestResourcesThatReferToEachOtherKeepTheirLiterals(t *testing.T) {
	p := everything(t)
	p.Resources = []*state.Resource{
		resource("cloud:store/object:Object", "a", "id-a", mapOf("bucket", "id-b")),
		resource("cloud:store/object:Object", "b", "id-b", mapOf("bucket", "id-a")),
	}
	got, err := Generate("nodejs", p)
	require.NoError(t, err)
	require.Contains(t, string(got), `bucket: "id-b"`)
	require.Contains(t, string(got), `bucket: "id-a"`)
}

func TestStringsSurviveYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ \n\t#:'"|>${}yYnNoOfF0-9e.~\x{2028}\x{85}-]*`)).Draw(t, "text")
		n := mapping()
		entry(n, "key", text(s))
		n.Content = append(n.Content, text("x"+s), scalar("value"))
		out, err := yaml.Marshal(n)
		require.NoError(t, err)
		var back map[string]any
		require.NoError(t, yaml.Unmarshal(out, &back), "%s", out)
		require.Equal(t, map[string]any{"key": strings.ReplaceAll(s, "${", "$${"), "x" + strings.ReplaceAll(s, "${", "$${"): "value"}, back)
	})
}

func TestShortAndForeignIDsAreNoReferences(t *testing.T) {
	p := everything(t)
	p.Resources = []*state.Resource{
		resource("cloud:index:Zone", "zone", "on", property.Map{}),
		resource("cloud:store/object:Object", "c", "long-enough", mapOf("bucket", "on", "key", "long-enough")),
	}
	got, err := Generate("yaml", p)
	require.NoError(t, err)
	require.Contains(t, string(got), `bucket: "on"`)
	require.Contains(t, string(got), "key: long-enough", "nothing refers to itself")
}

func TestAnIDOfTwoResourcesIsNoReference(t *testing.T) {
	p := everything(t)
	p.Resources = []*state.Resource{
		resource("cloud:store/object:Object", "a", "same", property.Map{}),
		resource("cloud:store/object:Object", "b", "same", property.Map{}),
		resource("cloud:store/object:Object", "c", "c", mapOf("bucket", "same")),
	}
	got, err := Generate("yaml", p)
	require.NoError(t, err)
	require.Contains(t, string(got), "bucket: same")
}

func TestVariablesAreIdentifiersThatNothingElseHas(t *testing.T) {
	p := everything(t)
	p.Names = nil
	p.Resources = nil
	for _, name := range []string{"my-bucket", "my bucket", "class", "cloud", "1st", "日本", "err", "pulumi", "Top.secret", "in", "myVPCs", "ctx"} {
		p.Resources = append(p.Resources, resource("cloud:index:Zone", name, name, property.Map{}))
	}
	variables := func(runtime string) []string {
		var out []string
		for _, d := range newDocument(p, languages[runtime].naming).resources {
			out = append(out, d.variable)
		}
		return out
	}
	for runtime, want := range map[string]string{
		"nodejs": "myBucket myBucket2 class2 cloud2 r1st resource err pulumi2 TopSecret in2 myVPCs ctx",
		"go":     "myBucket myBucket2 class cloud2 r1st resource err2 pulumi2 TopSecret in myVPCs ctx2",
		"yaml":   "my-bucket my_bucket class cloud 1st __ err pulumi2 Top_secret in myVPCs ctx",
		"python": "my_bucket my_bucket2 class2 cloud2 r1st resource err pulumi2 top_secret in2 myVPCs ctx",
		"java":   "myBucket myBucket2 class2 cloud r1st resource err pulumi topSecret in myVPCs ctx2",
	} {
		require.Equal(t, strings.Fields(want), variables(runtime), runtime)
	}
}

func TestTypeScriptIsWellFormed(t *testing.T) {
	tier.Slow(t, "Node.js")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH")
	}
	for _, name := range []string{"everything.ts", "secrets.ts", "unknown.ts"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		// Apart from type assertions, the file is valid JavaScript.
		file := filepath.Join(t.TempDir(), "x.mjs")
		require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), " as any", "")), 0o644))
		out, err := exec.Command(node, "--check", file).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

func TestAMalformedSchemaIsAnError(t *testing.T) {
	for _, text := range []string{"", "{", `{"resources": 1}`, `{"meta": {"moduleFormat": "("}}`} {
		_, err := ParseSchema(text)
		require.ErrorContains(t, err, "schema", text)
	}
}

func TestOtherRuntimesHaveNoDeclarations(t *testing.T) {
	require.False(t, Supports("dotnet"))
	_, err := Generate("dotnet", everything(t))
	require.ErrorContains(t, err, `"dotnet"`)
}
