package host_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// deployYAML previews and updates a stack with a program in YAML and the providers that come with sluice, and requires that a
// second update changes nothing. shop is the directory of the project's plugin "shop".
func deployYAML(t *testing.T, directory, shop string) {
	t.Helper()
	plugins := host.PluginOptions{
		Directory: directory, LookupEnv: func(string) (string, bool) { return "", false },
		ProjectPlugins: []plugin.ProjectPlugin{{Kind: plugin.Resource, Name: "shop", Directory: shop}},
	}
	files := source.Project{Runtime: "yaml", Root: directory, Directory: directory}
	program, err := host.NewProgram(files, plugins)
	require.NoError(t, err)
	options := sluice.Options{
		Stack: "dev", Project: "shop", Directory: directory, Root: directory, Program: program, State: &sluice.MemoryState{},
		Providers: host.NewPluginHost(plugins), Config: sluice.Config{"shop:password": {Text: "sesame", Secret: true}},
		Observe: func(e stages.Event) {
			if d, ok := e.(stages.Diagnostic); ok {
				t.Errorf("%v: %s", d.Severity, d.Message)
			}
		},
	}
	_, err = sluice.Preview(t.Context(), options)
	require.NoError(t, err)
	made, err := sluice.Update(t.Context(), options)
	require.NoError(t, err)
	require.NotZero(t, made.Changes[stages.OpCreate])
	again, err := sluice.Update(t.Context(), options)
	require.NoError(t, err)
	require.False(t, again.HasChanges())
}

func TestTheExampleInYAMLNeedsNoPlugin(t *testing.T) {
	directory, err := filepath.Abs("../examples/yaml")
	require.NoError(t, err)
	deployYAML(t, directory, filepath.Join(directory, "shop"))
}

func TestTheProgramsInTheYAMLManualWork(t *testing.T) {
	manual, err := os.ReadFile("../docs/yaml.md")
	require.NoError(t, err)
	shop := t.TempDir()
	var programs []string
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(manual), -1) {
		switch block := m[1]; {
		case strings.Contains(block, "components:"):
			require.NoError(t, os.WriteFile(filepath.Join(shop, "PulumiPlugin.yaml"), []byte(block), 0o644))
		case strings.Contains(block, "resources:"):
			programs = append(programs, block)
		}
	}
	require.Len(t, programs, 2)
	for _, text := range programs {
		directory := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(directory, "Pulumi.yaml"), []byte(text), 0o644))
		deployYAML(t, directory, shop)
	}
}
