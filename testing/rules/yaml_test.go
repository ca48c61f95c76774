package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// yamlProgram returns a program with a text, with the types of the simulated cloud.
func yamlProgram(t testing.TB, k *providertest.Cloud, text string) source.Program {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(text), 0o644))
	return host.NewYAMLProgram(source.Project{Runtime: "yaml", Root: dir, Directory: dir}, k.Host())
}

func TestAYAMLProgramIsPreviewedUpdatedAndDestroyed(t *testing.T) {
	k := newKit(t)
	k.options.Config = sluice.Config{"p:password": {Text: "hush", Secret: true}}
	text := func(size int) string {
		return fmt.Sprintf(`
resources:
  network: {type: "test:index:Thing", properties: {size: %d}}
  server: {type: "test:index:Thing", properties: {network: "${network.id}", password: "${password}"}}
outputs:
  server: ${server.id}
  secret: it is ${password}
`, size)
	}
	k.options.Program = yamlProgram(t, k.cloud, text(1))
	preview, err := sluice.Preview(t.Context(), k.options)
	require.NoError(t, err)
	require.Equal(t, 2, preview.Changes[stages.OpCreate]-1, "besides the stack")
	_, err = sluice.Update(t.Context(), k.options)
	require.NoError(t, err)

	snapshot, err := k.state.Load(t.Context())
	require.NoError(t, err)
	byName := map[string]*state.Resource{}
	for _, r := range snapshot.Resources {
		byName[r.URN.Name()] = r
	}
	server := byName["server"]
	require.Equal(t, byName["network"].ID, server.Inputs.At("network").AsString())
	require.True(t, server.Inputs.At("password").IsSecret())
	require.Contains(t, server.Dependencies, byName["network"].URN)
	require.Equal(t, server.ID, byName["p-dev"].Outputs.At("server").AsString())
	require.Equal(t, property.Secret(property.String("it is hush")), byName["p-dev"].Outputs.At("secret"))

	again, err := sluice.Update(t.Context(), k.options)
	require.NoError(t, err)
	require.False(t, again.HasChanges())
	k.options.Program = yamlProgram(t, k.cloud, text(2))
	changed, err := sluice.Update(t.Context(), k.options)
	require.NoError(t, err)
	require.Equal(t, 1, changed.Changes[stages.OpUpdate])
	_, err = sluice.Destroy(t.Context(), k.options)
	require.NoError(t, err)
}

func TestAMistakeInAYAMLProgramIsShownAtItsPlace(t *testing.T) {
	k := newKit(t)
	var messages []string
	k.options.Program = yamlProgram(t, k.cloud, "resources:\n  a: {type: \"test:index:Thing\", properties: {x: \"${b.id}\"}}\n")
	k.options.Observe = func(e stages.Event) {
		if d, ok := e.(stages.Diagnostic); ok {
			messages = append(messages, d.Message)
		}
	}
	_, err := sluice.Update(t.Context(), k.options)
	require.Error(t, err)
	require.Contains(t, strings.Join(messages, ""), "Pulumi.yaml:2:52: there is no resource, variable or configuration value \"b\"\n")
}

// manyYAMLResources returns a program with n resources, most of which depend on another.
func manyYAMLResources(n int) string {
	var b strings.Builder
	b.WriteString("config: {size: {default: 3}}\nvariables: {tag: \"tag-${size}\"}\nresources:\n")
	for i := range n {
		fmt.Fprintf(&b, "  r%d:\n    type: test:index:Thing\n    properties:\n      name: r%d-${tag}\n      size: ${size}\n", i, i)
		if i >= 100 {
			fmt.Fprintf(&b, "      network: ${r%d.id}\n", i%100)
		}
	}
	return b.String()
}

func BenchmarkPreviewOfManyYAMLResources(b *testing.B) {
	text := manyYAMLResources(10_000)
	for b.Loop() {
		cloud := providertest.NewCloud(providertest.Options{})
		result, err := sluice.Preview(b.Context(), sluice.Options{
			Stack: "dev", Project: "p", Providers: cloud.Host(), Program: yamlProgram(b, cloud, text),
		})
		require.NoError(b, err)
		require.GreaterOrEqual(b, result.Changes[stages.OpCreate], 10_000)
	}
}
