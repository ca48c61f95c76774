package native_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/catalog"
)

// Code generators use the schemas to find the public SDKs.
func TestSchemasSayWhereTheSDKsAre(t *testing.T) {
	type schema struct {
		Name, Namespace, Version string
		Meta                     struct{ ModuleFormat string }
		Language                 map[string]struct{ ImportBasePath string }
		Resources                map[string]struct{ RequiredInputs []string }
	}
	read := func(name string) (s schema) {
		p := catalog.All().Load(providers.Spec{Package: name}, native.Options{})
		text, err := p.Schema(t.Context(), providers.SchemaRequest{})
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		require.Equal(t, name, s.Name)
		return s
	}
	const slashed = "(.*)(?:/[^/]*)"
	for name, want := range map[string][3]string{
		"random":  {"github.com/pulumi/pulumi-random/sdk/v4/go/random", slashed},
		"tls":     {"github.com/pulumi/pulumi-tls/sdk/v5/go/tls", slashed},
		"std":     {"github.com/pulumi/pulumi-std/sdk/v2/go/std"},
		"command": {"github.com/pulumi/pulumi-command/sdk/go/command"},
		"time":    {"github.com/pulumiverse/pulumi-time/sdk/go/time", slashed, "pulumiverse"},
		"local":   {"github.com/pulumi/pulumi-local/sdk/go/local", slashed},
		"sim":     {},
	} {
		s := read(name)
		require.Equal(t, want, [3]string{s.Language["go"].ImportBasePath, s.Meta.ModuleFormat, s.Namespace}, name)
	}
	require.Equal(t, []string{"connection", "remotePath", "source"}, read("command").Resources["command:remote:CopyToRemote"].RequiredInputs)
}
