package stages_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestNewerVersionsAreSemanticOnes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.10.0", "1.9.0", true},
		{"1.9.0", "1.10.0", false},
		{"1.0.0", "1.0.0", false},
		{"1.0.0", "1.0.0-beta", true},
		{"1.0.0", "", true}, // any version is newer than none
		{"", "1.0.0", false},
		{"", "", false},
		{"latest", "1.0.0", false},
	} {
		require.Equal(t, c.want, stages.IsNewer(c.a, c.b), "%q and %q", c.a, c.b)
	}
}

// The inputs of a provider resource name the plugin that it needs. Nothing else does once the run is over.
func TestTheInputsOfAProviderNameItsPackage(t *testing.T) {
	for name, p := range map[string]stages.Package{
		"plain": {Name: "x", Version: "1.2.3", DownloadURL: "https://example.com"},
		"parameterized": {
			Name: "terraform-provider", Version: "0.8.0", Parameterization: &stages.Parameterization{Name: "x", Version: "3.2.1", Value: []byte("v")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inputs := p.Spec("x").Inputs(property.Map{})
			got, err := stages.PackageOf(urn.ProviderType("x"), inputs)
			require.NoError(t, err)
			require.Equal(t, p, got)
		})
	}
}

func TestAParameterizedPackageHasAVersionOfItsOwn(t *testing.T) {
	p := stages.Package{Name: "plugin", Version: "1.0.0", Parameterization: &stages.Parameterization{Name: "x", Version: "2.0.0"}}
	require.Equal(t, "2.0.0", p.OwnVersion())
	require.Equal(t, "2.0.0", p.Spec("x").Version)
	require.Equal(t, "1.0.0", p.Spec("x").Parameterization.PluginVersion)
}

func TestAnExtensionIsServedByThePackageBelowIt(t *testing.T) {
	require.Equal(t, "x", stages.Package{}.ServedBy("x:index:T"))
	require.Equal(t, "base", stages.Package{Name: "base", Extension: &stages.Parameterization{Name: "x"}}.ServedBy("x:index:T"))
}

func TestReferencesOfExtensionsTellTheirContentsApart(t *testing.T) {
	refs := map[string]bool{}
	for _, p := range []stages.Parameterization{
		{Name: "ab", Version: "c"}, {Name: "a", Version: "bc"}, {Name: "a", Version: "b", Value: []byte("c")}, {Name: "abc"},
	} {
		refs[p.Ref()] = true
		require.Equal(t, p.Ref(), stages.Parameterization{Name: p.Name, Version: p.Version, Value: p.Value}.Ref())
	}
	require.Len(t, refs, 4)
}

func TestDerivedBytesDependOnEntropyAndEachWord(t *testing.T) {
	require.Equal(t, stages.Derive([]byte("e"), "a", "b"), stages.Derive([]byte("e"), "a", "b"))
	different := map[string]bool{}
	for _, b := range [][]byte{
		stages.Derive([]byte("e"), "ab"), stages.Derive([]byte("e"), "a", "b"), stages.Derive([]byte("f"), "ab"), stages.Derive([]byte("e"), "ab", ""),
	} {
		require.Len(t, b, 32)
		different[string(b)] = true
	}
	require.Len(t, different, 4)
}

func TestDerivedIDsAreRandomUUIDsInForm(t *testing.T) {
	id, err := uuid.Parse(stages.DerivedID([]byte("e"), "provider"))
	require.NoError(t, err)
	require.EqualValues(t, 4, id.Version())
	require.Equal(t, uuid.RFC4122, id.Variant())
	require.Equal(t, id.String(), stages.DerivedID([]byte("e"), "provider"))
	require.NotEqual(t, id.String(), stages.DerivedID([]byte("f"), "provider"))
}
