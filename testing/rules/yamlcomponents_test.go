package rules

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// withShop makes the package "shop" a plugin whose components are written in YAML.
func withShop(t *testing.T, k *kit, text string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "PulumiPlugin.yaml"), []byte(text), 0o644))
	others := k.options.Providers
	k.options.Providers = evaluating{providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		if spec.Package == "shop" {
			return nil, &plugin.LanguageHostedError{Name: "shop", Directory: dir}
		}
		return others.Load(ctx, spec)
	})}
}

// evaluating is a host that evaluates components in YAML.
type evaluating struct{ providers.Host }

// ServeComponents implements [source.ComponentServer].
func (evaluating) ServeComponents(next providers.Host, p source.Project, monitor func() stages.Monitor) providers.Host {
	return host.ServeComponents(next, p, monitor)
}

const shopPlugin = `
name: shop
runtime: yaml
components:
  Site:
    inputs:
      size: {type: integer}
      password: {type: string, secret: true}
    resources:
      bucket: {type: "test:index:Thing", properties: {size: "${size}", password: "${password}"}}
      page: {type: "test:index:Thing", properties: {bucket: "${bucket.id}"}}
    outputs:
      page: ${page.id}
      password: ${password}
`

func TestAComponentInYAMLIsWhatItsPluginRegisters(t *testing.T) {
	k := newKit(t)
	withShop(t, k, shopPlugin)
	p := program(func(s *script) {
		base := s.thing("base", in{"arn": "x"})
		for _, name := range []string{"one", "two"} {
			site := s.register("shop:index:Site", name, in{"size": 3}, remote, from("password", base))
			s.thing("user-of-"+name, in{"page": site.Outputs.At("page")})
		}
	})
	r := k.up(p)
	require.Contains(t, r.steps(), "create one-bucket")
	bucket := k.recorded("one-bucket")
	require.Equal(t, k.recorded("one").URN, bucket.Parent)
	require.True(t, bucket.Inputs.At("password").IsSecret())
	require.Equal(t, bucket.ID, k.recorded("one-page").Inputs.At("bucket").AsString())
	require.Equal(t, k.recorded("one-page").ID, k.recorded("user-of-one").Inputs.At("page").AsString())
	require.Equal(t, property.Secret(property.String("arn:"+k.recorded("base").ID)), k.recorded("two").Outputs.At("password"))
	require.Contains(t, bucket.Dependencies, k.recorded("base").URN)
	again := k.up(p)
	require.False(t, again.HasChanges())
}

func TestAMistakeInAComponentFailsTheComponentAndShowsItsPlace(t *testing.T) {
	k := newKit(t)
	withShop(t, k, shopPlugin)
	var messages []string
	k.options.Observe = func(e stages.Event) {
		if d, ok := e.(stages.Diagnostic); ok {
			messages = append(messages, d.Message)
		}
	}
	k.options.Program = program(func(s *script) {
		s.register("shop:index:Site", "one", in{"size": "big"}, remote)
	})
	_, err := sluice.Update(t.Context(), k.options)
	require.Error(t, err)
	require.Contains(t, strings.Join(messages, ""), "shop:index:Site resource 'one' has a problem: PulumiPlugin.yaml:7:7: the input \"size\" is declared as integer")
	require.Contains(t, strings.Join(messages, ""), "PulumiPlugin.yaml:8:7: the input \"password\" has no default, and is not given")
}
