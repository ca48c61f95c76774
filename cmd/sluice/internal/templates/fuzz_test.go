package templates

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// FuzzPersonalize makes a project from any template with any description. The result must have exactly that name and
// description, no section "template", and everything else from the template.
func FuzzPersonalize(f *testing.F) {
	for _, s := range []string{
		"name: ${PROJECT}\ndescription: ${DESCRIPTION}\nruntime: yaml\ntemplate:\n  description: x\n  config: {a: b}\n", "runtime: go\n", "{name: x, runtime: y}",
		"---\nruntime: go\n...\n", "template: 1\nname: a", "? name\n: x\n", "a: &x 1\nname: *x\n",
	} {
		f.Add(s, "It's # ${odd}")
	}
	f.Add("name: x\n", "\n")
	f.Fuzz(func(t *testing.T, text, description string) {
		_ = new(Template).describe([]byte(text))
		var before, after map[string]any
		if yaml.Unmarshal([]byte(text), &before) != nil {
			return
		}
		got, err := personalize(text, Project{Name: "shop", Description: description})
		if err != nil {
			return
		}
		require.NoError(t, yaml.Unmarshal([]byte(got), &after), "%s", got)
		require.Equal(t, "shop", after["name"], "%s", got)
		if description != "" {
			require.Equal(t, description, after["description"], "%s", got)
		}
		for _, m := range []map[string]any{before, after} {
			delete(m, "name")
			delete(m, "description")
			delete(m, "template")
		}
		require.Equal(t, len(before), len(after), "%s", got)
	})
}
