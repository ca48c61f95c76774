package stages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

func TestImportsThatMakeSensePass(t *testing.T) {
	require.NoError(t, stages.CheckImports("dev", "p", []stages.ImportRequest{
		{Type: thing, Name: "web", ID: "1"},
		{Type: thing, Name: "web", ID: "2", Parent: urn.New("dev", "p", "", "my:C", "c")}, // another parent, another name
		{Type: "my", Name: "c", Component: true},
		{Type: "x:index:Remote", Name: "r", Component: true, Remote: true},
		{Type: "pulumi:providers:x", Name: "main"},
		{Type: "x:index:Other", Name: "explicit", ID: "3", Provider: urn.New("dev", "p", "", "pulumi:providers:x", "main")},
	}))
}

func TestEachWrongImportIsRefusedWithItsReason(t *testing.T) {
	for _, c := range []struct {
		request stages.ImportRequest
		text    string
	}{
		{stages.ImportRequest{Type: thing, ID: "1"}, "has no name"},
		{stages.ImportRequest{Type: "my:C", Name: "c", ID: "1", Component: true}, "cannot specify an ID as it's a component"},
		{stages.ImportRequest{Type: "x", Name: "web", ID: "1"}, "not a valid resource type token"},
		{stages.ImportRequest{Name: "web", Component: true}, "not a valid resource type token"},
		{stages.ImportRequest{Type: "pulumi:providers:x", Name: "main", ID: "1"}, "cannot specify an ID as it's a provider"},
		{stages.ImportRequest{Type: thing, Name: "web"}, "has no ID"},
		{stages.ImportRequest{Type: thing, Name: "web", ID: "1", Parent: "c"}, "is not a URN"},
		{stages.ImportRequest{Type: thing, Name: "web", ID: "1", Provider: web}, "is not a provider type"},
		{
			stages.ImportRequest{Type: thing, Name: "web", ID: "1", Package: stages.Package{
				Extension: &stages.Parameterization{}, Parameterization: &stages.Parameterization{},
			}},
			"mutually exclusive",
		},
	} {
		require.ErrorContains(t, stages.CheckImports("dev", "p", []stages.ImportRequest{c.request}), c.text)
	}
}

func TestAllWrongImportsAreNamedAtOnce(t *testing.T) {
	err := stages.CheckImports("dev", "p", []stages.ImportRequest{
		{Type: thing, Name: "web", ID: "1"}, {Type: thing, Name: "noid"}, {Type: thing, Name: "web", ID: "2"},
	})
	require.ErrorContains(t, err, "import noid")
	require.ErrorContains(t, err, "duplicate import 'web'")
}

func TestAnImportOfNothingIsAccepted(t *testing.T) {
	require.NoError(t, stages.CheckImports("dev", "p", nil))
}

func TestImportedResourcesAreChildrenOfTheStackUnlessTheySayOtherwise(t *testing.T) {
	require.Equal(t, urn.RootStack("dev", "p").Child(thing, "web"), stages.ImportRequest{Type: thing, Name: "web"}.URN("dev", "p"))
	parent := urn.New("dev", "p", "", "my:C", "c")
	require.Equal(t, parent.Child(thing, "web"), stages.ImportRequest{Type: thing, Name: "web", Parent: parent}.URN("dev", "p"))
}

func TestARequestSaysMoreAboutAPluginThanTheInputsOfTheProvider(t *testing.T) {
	inputs := stages.Package{Name: "x", Version: "1.0.0", DownloadURL: "https://old"}.Spec("x").Inputs(property.Map{})
	q := stages.ImportRequest{Type: "pulumi:providers:x", Inputs: inputs}
	spec, err := q.ProviderSpec()
	require.NoError(t, err)
	require.Equal(t, "1.0.0", spec.Version)
	require.Equal(t, "https://old", spec.DownloadURL)

	q.Package = stages.Package{Version: "2.0.0"}
	spec, err = q.ProviderSpec()
	require.NoError(t, err)
	require.Equal(t, "2.0.0", spec.Version)
	require.Equal(t, "https://old", spec.DownloadURL)
}

func TestTheZeroTargetingIsAboutEverything(t *testing.T) {
	some, err := urn.CompileSet(string(web))
	require.NoError(t, err)
	require.False(t, stages.Targeting{}.IsPartial())
	require.False(t, stages.Targeting{Replace: some}.IsPartial(), "what is to be replaced is no limit")
	require.True(t, stages.Targeting{Targets: some}.IsPartial())
	require.True(t, stages.Targeting{Excludes: some}.IsPartial())
}
