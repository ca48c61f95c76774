package providers_test

import (
	"testing"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
	"github.com/stretchr/testify/require"
)

func TestSpecSurvivesTheInputs(t *testing.T) {
	cases := map[string]providers.Spec{
		"bare":    {Package: "simple"},
		"version": {Package: "simple", Version: "1.2.3-alpha.1+build"},
		"everything": {
			Package: "simple", Version: "1.0.0", DownloadURL: "github://api.example.com/org",
			Checksums:        map[string][]byte{"linux-amd64": {1, 2, 0xff}},
			Parameterization: &providers.Parameterization{Plugin: "bridge", PluginVersion: "0.9.0", Value: []byte("x\x00y")},
			Environment:      map[string]string{"NEW": "OLD"},
		},
		"another plugin":              {Package: "simple", Plugin: "complicated"},
		"parameterization of nothing": {Package: "simple", Parameterization: &providers.Parameterization{Plugin: "b", Value: []byte{}}},
	}
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			config := object("region", "eu")
			inputs := spec.Inputs(config)
			got, err := providers.SpecFromInputs(providerType, inputs)
			require.NoError(t, err)
			require.Equal(t, spec, got)
			require.True(t, property.IdenticalMaps(config, providers.Configuration(inputs).Without("version")))
			require.True(t, property.IdenticalMaps(inputs, spec.Inputs(inputs)), "inputs that are there already are replaced")
		})
	}
}

func TestInputsHaveTheRecordedForm(t *testing.T) {
	spec := providers.Spec{
		Package: "simple", Version: "1.0.0", DownloadURL: "u", Checksums: map[string][]byte{"linux-amd64": {0xab}},
		Parameterization: &providers.Parameterization{Plugin: "bridge", PluginVersion: "0.9.0", Value: []byte("hi")},
	}
	want := object("version", "1.0.0", "__internal", object(
		"pluginDownloadURL", "u", "pluginChecksums", object("linux-amd64", "ab"),
		"name", "bridge", "version", "0.9.0", "parameterization", "aGk="))
	require.True(t, property.IdenticalMaps(want, spec.Inputs(property.Map{})))
}

func TestOldStatesKeepTheURLAtTheRoot(t *testing.T) {
	spec, err := providers.SpecFromInputs(providerType, object("pluginDownloadURL", "https://example.com", "version", "1.0.0"))
	require.NoError(t, err)
	require.Equal(t, providers.Spec{Package: "simple", Version: "1.0.0", DownloadURL: "https://example.com"}, spec)

	spec, err = providers.SpecFromInputs(providerType, object("pluginDownloadURL", "config", "__internal", object()))
	require.NoError(t, err)
	require.Empty(t, spec.DownloadURL, "a provider's own setting of that name is not the engine's")
}

func TestSecretInputsOfTheEngineAreRead(t *testing.T) {
	spec, err := providers.SpecFromInputs(providerType, object("version", property.Secret(property.String("1.0.0"))))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", spec.Version)
}

func TestMalformedProviderInputsAreNamed(t *testing.T) {
	cases := map[string]struct {
		inputs property.Map
		at     string
	}{
		"version":          {object("version", "v1"), "version"},
		"version number":   {object("version", property.Number(1)), "version"},
		"internal":         {object("__internal", "x"), "__internal"},
		"url":              {object("__internal", object("pluginDownloadURL", property.Computed())), "__internal.pluginDownloadURL"},
		"checksum":         {object("__internal", object("pluginChecksums", object("a", "zz"))), "__internal.pluginChecksums"},
		"parameterization": {object("__internal", object("name", "b", "parameterization", "!")), "__internal.parameterization"},
		"path":             {object("__internal", object("name", "../x", "parameterization", "")), "__internal.name"},
		"path, no value":   {object("__internal", object("name", "../x")), "__internal.name"},
		"no plugin":        {object("__internal", object("parameterization", "")), "__internal.name"},
		"environment":      {object("__internal", object("envVarMappings", object("A", property.Number(1)))), "__internal.envVarMappings.A"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := providers.SpecFromInputs(providerType, c.inputs)
			var bad *providers.SpecError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.at, bad.Property)
		})
	}
	_, err := providers.SpecFromInputs(urn.Type("simple:index:Thing"), property.Map{})
	require.Error(t, err)
	_, err = providers.SpecFromInputs(urn.Type("pulumi:providers:../x"), property.Map{})
	require.ErrorContains(t, err, `"../x" cannot be the name of a package`)
}
