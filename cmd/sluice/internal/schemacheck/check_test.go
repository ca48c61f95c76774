package schemacheck

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
)

func TestSchemasOfBuiltInProvidersHaveNoProblems(t *testing.T) {
	plugins := host.NewPluginHost(host.PluginOptions{LookupEnv: func(string) (string, bool) { return "", false }})
	for _, name := range host.BuiltinProviders() {
		p, err := plugins.Load(context.Background(), providers.Spec{Package: name})
		require.NoError(t, err)
		text, err := p.Schema(context.Background(), providers.SchemaRequest{})
		require.NoError(t, err)
		problems, err := Check([]byte(text), false)
		require.NoError(t, err)
		require.Empty(t, problems, name)
	}
	require.NoError(t, plugins.Close())
}

func TestProblemsOfSchemas(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"name and version": {
			`{"name": "9", "version": "one", "meta": {"moduleFormat": "("}}`,
			[]string{`name: "9" is not the name of a package`, `version: "one" is not a version`, "meta/moduleFormat: not a valid regular expression"},
		},
		"tokens": {
			`{"name": "p", "resources": {"q:index:Thing": {}, "p:Thing": {}, "p:index:a-b": {}, "p:index/thing:Thing": {}}}`,
			[]string{"resources/p:Thing: a token has three parts", `resources/p:index:a-b: "a-b" is not a name`, `resources/q:index:Thing: its package is "q"`},
		},
		"types": {
			`{"name": "p", "types": {"p:index:T": {"type": "object", "properties": {"a": {"type": "text"}, "b": {"type": "array"},
				"c": {"type": "array", "items": {"$ref": "#/types/p:index:U"}}, "d": {"oneOf": [{"type": "string"}, {"$ref": "U"}]},
				"e": {"$ref": "pulumi.json#/Thing"}, "f": {"$ref": "/other/v1.0.0/schema.json#/types/o:index:X"}}, "required": ["a", "z"]}}}`,
			[]string{
				`types/p:index:T/properties/a: "text" is not a type`, "types/p:index:T/properties/b: an array has `items`",
				`types/p:index:T/properties/c/items: the reference "#/types/p:index:U" leads to nothing`,
				`types/p:index:T/properties/d/oneOf/1: the reference "U" has no #`, `types/p:index:T/properties/e: pulumi.json has no "/Thing"`,
				`types/p:index:T/required: there is no property "z"`,
			},
		},
		"enums": {
			`{"name": "p", "types": {"p:index:E": {"type": "integer", "enum": [{"value": 1}, {"value": 1.5}, {"value": "x"}]},
				"p:index:F": {"type": "object", "enum": [{"value": 1}]}}}`,
			[]string{
				"types/p:index:E/enum/1: the value 1.5 is not of the type integer", "types/p:index:E/enum/2: the value x is not of the type integer",
				`types/p:index:F: the type of an enum is`,
			},
		},
		"resources and functions": {
			`{"name": "p", "resources": {"p:index:R": {"inputProperties": {"urn": {"type": "string"}}, "requiredInputs": ["x"],
				"methods": {"m": "p:index:R/m"}, "isComponent": true}}, "functions": {"p:index:f": {"inputs": {"properties": {"a": {}}}, "outputs": {"required": ["b"]}}}}`,
			[]string{
				"resources/p:index:R/inputProperties/urn: every resource has", `resources/p:index:R/requiredInputs: there is no property "x"`,
				`resources/p:index:R/methods/m: there is no function "p:index:R/m"`, `functions/p:index:f/inputs/properties/a: "" is not a type`,
				`functions/p:index:f/outputs/required: there is no property "b"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			problems, err := Check([]byte(c.text), false)
			require.NoError(t, err)
			require.Len(t, problems, len(c.want), "%v", problems)
			for i, want := range c.want {
				require.Contains(t, problems[i].String(), want)
			}
		})
	}
}

func TestDanglingReferencesCanBeAllowed(t *testing.T) {
	problems, err := Check([]byte(`{"name": "p", "types": {"p:index:T": {"properties": {"a": {"$ref": "#/types/p:index:U"}}}}}`), true)
	require.NoError(t, err)
	require.Empty(t, problems)
}
