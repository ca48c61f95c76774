package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

func TestSchemasOfPoliciesReferToNoFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"type":"string"}`), 0o600))
	d := described{properties: map[string]any{"x": map[string]any{"$ref": "file://" + path}}}
	problems := d.problems(map[string]any{"x": 1})
	require.Len(t, problems, 1)
	require.Contains(t, problems[0], "may refer to nothing outside of itself")
}

// FuzzConfig reads any texts as the configuration of a policy pack and as the schema of one of its policies, and applies the
// one to the other, always with the same result.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"all":"mandatory","p":{"enforcementLevel":"advisory","n":3}}`), []byte(`{"n":{"type":"integer","default":1},"s":{"$ref":"#/properties/n"}}`))
	f.Add([]byte(" "), []byte(`{"a":{"type":"string","pattern":"^(a+)+$","default":"x"}}`))
	f.Add([]byte(`{"p":1}`), []byte(`{"a":{"$ref":"file:///dev/zero"}}`))
	f.Add([]byte(`{"p":{"a":{"a":[]}}}`), []byte(`{"a":{"properties":{"a":{"$ref":"#"}},"anyOf":[{"type":"object"},{"not":{}}]}}`))
	f.Fuzz(func(t *testing.T, text, schema []byte) {
		fuzzing.Bound(t, len(text)+len(schema), 5000, func() {
			config, _, err := parseConfig(text)
			if err != nil {
				require.NotEmpty(t, err.Error())
				return
			}
			var properties map[string]any
			if json.Unmarshal(schema, &properties) != nil {
				return
			}
			policies := []described{{PolicyInfo: stages.PolicyInfo{Name: "p"}, properties: properties, required: []string{"n"}}}
			merged := reconcile(policies, nil, config)
			require.Contains(t, merged, "p")
			first := validate(policies, merged)
			require.Equal(t, first, validate(policies, reconcile(policies, nil, config)))
		})
	})
}
