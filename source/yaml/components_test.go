package yaml_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/yaml"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// makeComponents opens the plugin of a session and constructs each component in its run.json.
func (s *session) makeComponents(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range s.archive.Files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644))
	}
	var b strings.Builder
	m := s.monitor()
	schemas := hostOf(t, sharedSchemas(t))
	host := yaml.ComponentHost(providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		if spec.Package == "shop" {
			return nil, &plugin.LanguageHostedError{Name: "shop", Directory: dir}
		}
		return schemas.Load(ctx, spec)
	}), yaml.ComponentOptions{
		Project: source.Project{Directory: dir, Root: dir}, Monitor: func() stages.Monitor { return m },
	})
	p, err := host.Load(t.Context(), providers.Spec{Package: "shop"})
	if err != nil {
		return strings.ReplaceAll(fmt.Sprintf("error: %v\n", err), dir, "$DIR")
	}
	if len(s.run.Make) == 0 {
		text, err := p.Schema(t.Context(), providers.SchemaRequest{})
		require.NoError(t, err)
		var schema any
		require.NoError(t, json.Unmarshal([]byte(text), &schema))
		indented, err := json.MarshalIndent(schema, "", " ")
		require.NoError(t, err)
		return string(indented) + "\n"
	}
	for _, wanted := range s.run.Make {
		inputs, deps := map[string]property.Value{}, map[string][]urn.URN{}
		for name, v := range wanted.Inputs {
			switch v {
			case "unknown":
				inputs[name] = property.Computed()
			case "secret":
				inputs[name] = property.Secret(property.String("hush"))
			default:
				inputs[name] = plainInput(v)
			}
			deps[name] = []urn.URN{m.URN("p:m:T", "given", "")}
		}
		reply, err := p.Construct(t.Context(), providers.ConstructRequest{
			Type: wanted.Type, Name: wanted.Name, Inputs: property.NewMap(inputs), InputDependencies: deps,
			Parent: m.URN(urn.RootStackType, "proj-dev", ""),
		})
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
			continue
		}
		fmt.Fprintf(&b, "made %s\n", short(reply.URN))
		describeMap(&b, reply.Outputs)
	}
	b.WriteString(describeRecord(m.Record()))
	return strings.ReplaceAll(b.String(), dir, "$DIR")
}

// plainInput returns a value of a session's run.json.
func plainInput(v any) property.Value {
	switch v := v.(type) {
	case string:
		return property.String(v)
	case float64:
		return property.Number(v)
	case bool:
		return property.Bool(v)
	case []any:
		items := make([]property.Value, len(v))
		for i, item := range v {
			items[i] = plainInput(item)
		}
		return property.ArrayOf(items...)
	}
	return property.Null
}
