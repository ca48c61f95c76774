package codegen

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// FuzzSchema reads any text as a provider's schema, and writes the declaration of a resource by it. The result must be
// YAML, whatever the schema contains, and must not contain a secret.
func FuzzSchema(f *testing.F) {
	text, err := os.ReadFile("testdata/schema.json")
	require.NoError(f, err)
	f.Add(string(text))
	f.Add("")
	f.Add(`{"name":"cloud","meta":{"moduleFormat":"(.*)(?:/[^/]*)"},"resources":{"cloud:store/bucket:Bucket":{"inputProperties":{"tags":{"$ref":"#/types/T"},"password":{"type":"string","secret":true},"n":{"const":1}},"requiredInputs":["n","tags"]}},"types":{"T":{"type":"object","properties":{"plain":{"$ref":"#/types/T"}},"required":["plain"]}}}`)
	f.Add(`{"meta":{"moduleFormat":"("}}`)
	f.Fuzz(func(t *testing.T, text string) {
		schema, err := ParseSchema(text)
		if err != nil {
			require.ErrorContains(t, err, "schema")
			return
		}
		p := Program{
			Schemas: map[string]*Schema{defaultRef: schema},
			Resources: []*state.Resource{resource("cloud:store/bucket:Bucket", "b", "1", mapOf(
				"tags", mapOf("plain", "x", "__proto__", "${z}"), "rules", []any{mapOf("days", 3), "x"}, "n", 0.5,
				"password", property.Secret(property.String(secretText))))},
		}
		for _, runtime := range []string{"yaml", "nodejs", "go", "python", "java"} {
			got, err := Generate(runtime, p)
			require.NoError(t, err)
			require.NotContains(t, string(got), secretText)
			if runtime == "yaml" {
				var document map[string]any
				require.NoError(t, yaml.Unmarshal(got, &document), "%s", got)
			}
		}
	})
}
